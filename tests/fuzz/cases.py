"""One case: a command with spoiled input, run in a folder of its own, and what became of it."""

import contextlib
import functools
import importlib
import io
import itertools
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from ctxmt_fairseq.base.exit_codes import exit_code
from ctxmt_fairseq.base.paths import Output
from ctxmt_fairseq.cli.main import main, parser
from tests.fuzz.commands import COMMANDS
from tests.fuzz.mutations import STRINGS, spoil
from tests.fuzz.samples import TIME
from tests.helpers.every_command import commands, flags, is_made_of, options

FAIRSEQ = {"fairseq-train": "fairseq_cli.train", "fairseq-validate": "fairseq_cli.validate"}
# Programs that are no commands: name -> the module with its main(arguments).
SCRIPTS = {
    "scripts.benchmark": "scripts.benchmark.__main__",
    "corenlp": "gated_context.corenlp",
    "threads": "tests.fuzz.threads",
}
OK, REFUSED, RED = "ok", "refused", "RED"
SECONDS, WAITING = 20, 120  # of a case, at work and in all; more is a hang
MEBIBYTES = 1024  # that a case may take besides; no sample has one
# A pipe in their place would wait for its reader.
OUTPUTS = {
    flag
    for _, command in commands()
    for name, field in options(command)
    if is_made_of(field, Output)
    for flag in flags(name, field)
}
PLACES = [
    "nowhere",
    "folder",
    "empty",
    "/dev/null",
    "/dev/full",
    "x" * 300,
    "no/such/file",
    "few.en/x",
    "loop",
    "binary",
]
VALUES = [
    "-1",
    "0",
    "-3",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e30",
    "9" * 30,
    "2147483648",
    "1.5",
    "0x10",
    "a/b",
    ".",
    ":",
    "::",
    "/",
]
VALUES += ["--", "-", "none", "all", "a,,b", "en", "\udcff", *STRINGS]


@dataclass(frozen=True)
class Outcome:
    """What became of a case; ``seconds`` of work it took."""

    number: int
    command: str
    result: str
    why: str
    arguments: list
    seconds: float = field(compare=False)


_parser = functools.cache(parser)


class Hang(BaseException):
    """The case takes too long."""


class Fuzzer:
    """Runs cases; a case depends on the seed and its number alone.

    Args:
        samples: content by file name, see ``make_samples``.
        folder: where cases are run; each leaves it empty.
    """

    def __init__(self, samples, folder, seed):
        self.samples = dict(samples)
        for suffix in ("en", "fr", "docids", "meta.jsonl", "current"):
            lines = samples[f"text.{suffix}"].splitlines(keepends=True)
            self.samples[f"few.{suffix}"] = b"".join(lines[:3])
        self.folder = Path(folder)
        self.seed = seed

    def run(self, number, keep=False):
        """Run a case; ``keep``: its folder stays as it is."""
        rng = random.Random(f"{self.seed}:{number}")
        command = rng.choices(COMMANDS, [each.weight for each in COMMANDS])[0]
        arguments = self._arguments(rng, command)
        names = self._inputs(command)
        spoiled = set(rng.sample(names, min(len(names), rng.choice([0, 1, 1, 1, 1, 2]))))
        files = {
            name: spoil(rng, name, self.samples[name]) if name in spoiled else self.samples[name]
            for name in names
        }
        return self._outcome(number, command, arguments, files, keep)

    def unspoiled(self, command):
        """A command as it stands."""
        files = {name: self.samples[name] for name in self._inputs(command)}
        return self._outcome(-1, command, command.arguments, files)

    def _inputs(self, command):
        return [name for name in self.samples if name.startswith(tuple(command.inputs.split()))]

    def _outcome(self, number, command, arguments, files, keep=False):
        place = self.folder / "work" / "case"
        shutil.rmtree(self.folder / "work", ignore_errors=True)
        place.mkdir(parents=True)
        write_files(place, files)
        before, started, memory = snapshot(self.folder / "work"), time.process_time(), _peak()
        code, stderr, error = call(arguments, place)
        result, why = judge(code, stderr, error, before, snapshot(self.folder / "work"), arguments)
        if _peak() - memory > MEBIBYTES:
            result, why = RED, f"{_peak() - memory:.0f} MiB of memory"
        if not keep:
            shutil.rmtree(self.folder / "work", ignore_errors=True)
        return Outcome(number, command.name, result, why, arguments, time.process_time() - started)

    def _arguments(self, rng, command):
        arguments = command.arguments
        if arguments[0] in FAIRSEQ:
            return arguments  # fairseq's own parser says what it expects in its own way
        for option, values in command.options.items():
            if rng.random() < 0.1:
                arguments += [option] if values is None else [option, rng.choice(values)]
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            kind = rng.randrange(3 if command.fixed else 6)
            if kind <= 2 and command.options:
                option = rng.choice(sorted(command.options))
                arguments += [option, _strange(rng, option)]
            elif kind <= 4 and len(arguments) > 1:
                at = rng.randrange(1, len(arguments))
                arguments[at] = _strange(rng, arguments[at - 1])
            elif kind == 5 and arguments:
                at = rng.randrange(len(arguments))
                if rng.random() < 0.5:
                    del arguments[at]
                else:
                    arguments.insert(at, rng.choice(["--help", "--unknown", *VALUES]))
        return arguments


def _peak():
    """The most memory that this process has ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_files(place, files):
    """The files of a case, of one time each, beside things that are no text."""
    for name, content in files.items():
        if content is not None:
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            os.utime(path, (TIME, TIME))
    (place / "folder").mkdir()
    (place / "empty").touch()
    (place / "binary").write_bytes(bytes(range(256)))
    (place / "loop").symlink_to("loop")
    os.mkfifo(place / "pipe")


def judge(code, stderr, error, before, after, arguments):
    """The result of a case and what it rests on; ``before`` and ``after`` are snapshots."""
    if isinstance(error, Hang):
        return RED, f"more than {SECONDS} s of work or {WAITING} s in all"
    if error is not None:
        return RED, "".join(traceback.format_exception(error)).strip()
    left = sorted(name for name in after if after[name] != before.get(name))
    lost = sorted(name for name in before if name not in after)
    if code == 0:
        scratch = [
            name for name in left if Path(name).name.startswith(".") or name.endswith((".tmp", ".partial"))
        ]
        return (RED, f"left {scratch}") if scratch else (OK, "")
    lines = stderr.splitlines()
    errors = [line for line in lines if line.startswith("ctxmt: error: ")]
    if code != 2 or len(errors) != 1 or lines[-1] != errors[0] or "Traceback" in stderr:
        return RED, f"exit code {code}, stderr {stderr[-2000:]!r}"
    left = [name for name in left if not _documented(name, arguments)]
    if left or lost:
        return RED, f"left {left}, lost {lost} after {errors[0]}"
    return REFUSED, errors[0]


def _documented(name, arguments):
    """What a refused command may leave: a translation's journal, what was embedded, a report of faults, the
    finished steps of an evaluation."""
    journal = arguments[:1] == ["translate"] and name.endswith(".partial")
    reports = [value for option, value in itertools.pairwise(arguments) if option == "--json"]
    report = arguments[:2] == ["corpus", "check"] and name in [f"case/{value}" for value in reports]
    steps = arguments[:1] == ["evaluate"] and not Path(name).name.startswith(".")
    return journal or report or steps or arguments[:1] == ["embed"]


def _strange(rng, option):
    if option in OUTPUTS:
        return rng.choice([*PLACES, "", " ", "."])
    return rng.choice([*VALUES, *PLACES, "pipe"])


def snapshot(folder):
    """Name -> kind, size and time of everything below a folder."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            stat = os.lstat(os.path.join(path, name))
            content = (0, 0) if name in folders else (stat.st_size, stat.st_mtime_ns)
            found[os.path.relpath(os.path.join(path, name), folder)] = (stat.st_mode, *content)
    return found


def call(arguments, folder):
    """Exit code, stderr and exception of a command in this process.

    Whatever a command could write to the streams of a terminal is checked: text must have an encoding.
    """
    stdout, stderr = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors, newline="\n", write_through=True)
        for errors in ("strict", "backslashreplace")
    )
    code, error, before = None, None, os.getcwd()

    def alarm(*_):
        raise Hang

    previous = [(number, signal.signal(number, alarm)) for number in (signal.SIGALRM, signal.SIGPROF)]
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr), surroundings():
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.setitimer(signal.ITIMER_REAL, WAITING)
            try:
                code = _program(arguments)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
    except SystemExit as exit:
        code = exit.code or 0
    except (Exception, Hang) as caught:
        error = caught
    finally:
        os.chdir(before)
        for number, handler in previous:
            signal.signal(number, handler)
    return code, stderr.buffer.getvalue().decode("utf-8", "replace"), error


def _program(arguments):
    first = arguments[0] if arguments else ""
    if first in FAIRSEQ:
        return fairseq(arguments)
    if first in SCRIPTS:
        return importlib.import_module(SCRIPTS[first]).main(arguments[1:])
    return main(arguments)


def fairseq(arguments):
    """A command of fairseq with the plugin, and what ``exit_codes.hook_command`` does at its end."""
    argv = list(arguments)
    try:
        with patch.object(sys, "argv", argv):
            importlib.import_module(FAIRSEQ[argv[0]]).cli_main()
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        return code
    return 0


@contextlib.contextmanager
def surroundings():
    """No network, on no machine; and one parser for all cases."""
    nowhere = OSError(-2, "Name or service not known")
    with patch("socket.getaddrinfo", side_effect=nowhere), patch("ctxmt_fairseq.cli.main.parser", _parser):
        yield
