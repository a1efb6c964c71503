"""The options of the recipes' scripts, and the commands that they show and run."""

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, List, NoReturn, Optional, Sequence, Tuple


class BadRecipe(ValueError):
    """Something that a recipe does not know; its text is one line for the user."""


class OptionParser(argparse.ArgumentParser):
    """Every option can also come from the environment, --some-name as SOME_NAME; errors are one line."""

    def __init__(self, **kwargs: Any):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise BadRecipe(f"{message}; see --help")

    def add_option(
        self, name: str, default: str, help: str = "", shown: Optional[str] = None, **kwargs: Any
    ) -> None:
        """Add --NAME X.

        Args:
            shown: what a default of auto means.
        """
        value = os.environ.get(name.replace("-", "_").upper()) or default
        text = f"{help} (default: {shown if shown and value == default else value})"
        kwargs.setdefault("metavar", "X")
        self.add_argument(f"--{name}", default=value, help=text.strip().replace("%", "%%"), **kwargs)

    def add_dry_run(self) -> None:
        """Add --dry-run."""
        asked = bool(os.environ.get("DRY_RUN"))
        self.add_argument("--dry-run", action="store_true", default=asked, help="print the commands only")


def whole(text: str) -> str:
    """The type of options that are a whole number, or auto."""
    if not re.fullmatch("[0-9]+|auto", text):
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}")
    return text


def split_extra(arguments: Sequence[str]) -> Tuple[List[str], List[str]]:
    """What comes before a lone --, and after it."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def find_plugin() -> Path:
    """The package's folder, fairseq's --user-dir, found without importing it.

    Raises:
        BadRecipe: it is not installed.
    """
    spec = importlib.util.find_spec("ctxmt_fairseq")
    if spec is None or spec.origin is None:
        raise BadRecipe("ctxmt_fairseq not found: activate the environment that has it (README)")
    return Path(spec.origin).resolve().parent


def run(command: Sequence[Any], dry: bool, log: Optional[Path] = None) -> None:
    """Show a command and run it; a dry run prints it only.

    Args:
        log: a file to which its output is added, too.

    Raises:
        BadRecipe: there is no such program.
        SystemExit: with the command's exit code, if it fails.
    """
    words = [str(word) for word in command]
    if dry:
        print(shlex.join(words))
        return
    if shutil.which(words[0]) is None:
        raise BadRecipe(f"{words[0]} not found: activate the environment that has ctxmt_fairseq (README)")
    print("+ " + shlex.join(words), file=sys.stderr, flush=True)
    pipe = {} if log is None else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(words, **pipe) as child:  # type: ignore[call-overload]
        ended = []

        def end(number: int, frame: Any) -> None:  # what ends this script (torchrun, Slurm) ends the command
            ended.append(number)
            child.terminate()

        former = signal.signal(signal.SIGTERM, end)
        try:
            if log is not None:
                _copy(child.stdout, log)
            code = child.wait()
        except KeyboardInterrupt:  # Ctrl-C reaches the command, too
            code = child.wait() or 130
        finally:
            signal.signal(signal.SIGTERM, former)
    if ended:
        sys.exit(128 + ended[0])
    if code:
        sys.exit(code if code > 0 else 128 - code)


def _copy(stream: Any, log: Path) -> None:
    with open(log, "ab") as file:
        for line in stream:
            file.write(line)
            file.flush()
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
