"""The commands that the runs consist of, and which code they ran."""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, List

from evidence.workplace import PACKAGE

HERE = Path(__file__).resolve().parent
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def ctxmt(*arguments: Any) -> None:
    """A command of ``ctxmt`` in this process: a new one takes seconds to start.

    Raises:
        SystemExit: it failed.
    """
    from ctxmt_fairseq.cli.main import main

    code = main([str(argument) for argument in arguments])
    if code:
        sys.exit(code)


def train(flags: List[str], log: Path) -> None:
    """fairseq-train in a process of its own, which ends with this one, however that ends.

    The log grows, and so does ``cpu`` beside it: ``begun``, then the CPU seconds, of every attempt; one that
    was killed outright leaves no seconds.

    Raises:
        SystemExit: it failed.
    """
    command = [sys.executable, "-m", "fairseq_cli.train", *flags]
    before, cpu = children_seconds(), log.with_name("cpu")
    _append(cpu, "begun")
    with log.open("a", encoding="utf-8") as stream:
        child = subprocess.Popen(command, stdout=stream, stderr=stream, preexec_fn=_end_with_parent)
        previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            code = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        finally:
            signal.signal(signal.SIGTERM, previous)
            _append(cpu, f"{children_seconds() - before:.0f}")
    if code:
        sys.exit(f"error: training ended with code {code}; see {log}")


def _append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"{line}\n")


def _end_with_parent() -> None:
    """Else a training goes on alone when its driver is killed outright, and the next driver begins another
    in the same folder."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def commit() -> str:
    """The last commit that changed the package or the driver, with ``+changes`` where files differ from it;
    "unknown" without git."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(HERE), *arguments, "--", str(HERE), str(PACKAGE)]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    try:
        found = git("log", "-1", "--format=%H")
        return (found or "unknown") + ("+changes" if git("status", "--porcelain") else "")
    except FileNotFoundError:
        return "unknown"


def children_seconds() -> float:
    """CPU time of this process's children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
