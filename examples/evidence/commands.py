"""The commands that the runs consist of, and which code they ran."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, List

import ctxmt_fairseq

PACKAGE = Path(ctxmt_fairseq.__file__).parent


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
    """fairseq-train in a process of its own, which ends with this one.

    The log grows, and so does ``cpu`` beside it: the CPU seconds of every attempt that was not killed
    outright.

    Raises:
        SystemExit: it failed.
    """
    command = [sys.executable, "-m", "fairseq_cli.train", *flags]
    before = children_seconds()
    with log.open("a", encoding="utf-8") as stream:
        child = subprocess.Popen(command, stdout=stream, stderr=stream)
        previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            code = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        finally:
            signal.signal(signal.SIGTERM, previous)
            with log.with_name("cpu").open("a", encoding="utf-8") as seconds:
                seconds.write(f"{children_seconds() - before:.0f}\n")
    if code:
        sys.exit(f"error: training ended with code {code}; see {log}")


def commit() -> str:
    """The last commit that changed the package, with ``+changes`` where files differ from it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(PACKAGE), *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    found = git("log", "-1", "--format=%H", "--", ".") or "unknown"
    return found + ("+changes" if git("status", "--porcelain", "--", ".") else "")


def children_seconds() -> float:
    """CPU time of this process's children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
