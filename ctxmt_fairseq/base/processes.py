"""Processes that this one starts: what they print, and what ends them."""

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence

if TYPE_CHECKING:
    from ctxmt_fairseq.base.drafts import Lock

# What fairseq-train must be told in a process that torchrun started on CPUs, with its environment's values.
CPU_WORKER = (
    "--distributed-rank {RANK} --distributed-no-spawn --ddp-backend legacy_ddp "
    "--distributed-init-method env:// --distributed-backend gloo"
)


def run_logged(words: Sequence[str], log: Optional[Path] = None, lock: Optional["Lock"] = None) -> int:
    """Run a command in this process' place: what ends this one (torchrun, Slurm) ends it, too; its output is
    added to a log, if there is one, and goes on to ours. If either takes no more, the command is ended. It
    holds a lock that it is given for as long as it lives, though this process be killed.

    Returns its exit code; 128 + the signal's number if one ended it, as shells have it.
    """
    pipe: Any = {} if log is None else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    if lock is not None:
        pipe["pass_fds"] = [lock.descriptor]
    children: List[subprocess.Popen[bytes]] = []
    with ending_with_this(children) as ended, subprocess.Popen(words, **pipe) as child:
        children.append(child)
        if ended:  # while it was being started
            child.terminate()
        try:
            if log is not None:
                _copy(child.stdout, log)
            code = child.wait()
        except KeyboardInterrupt:  # a terminal sends it to the command, too
            code = child.wait() or 128 + signal.SIGINT
        except Exception:  # nobody reads on, or the disk is full: nothing goes on unseen
            child.terminate()
            raise
    if ended:
        return 128 + ended[0]
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def ending_with_this(children: Sequence["subprocess.Popen[bytes]"]) -> Iterator[List[int]]:
    """Let SIGTERM end the children meanwhile, and not this process; yields the signals that came."""
    ended: List[int] = []

    def end(number: int, frame: Any) -> None:
        ended.append(number)
        for child in children:
            child.terminate()

    former = signal.signal(signal.SIGTERM, end)
    try:
        yield ended
    finally:
        signal.signal(signal.SIGTERM, former)


def _copy(stream: Any, log: Path) -> None:
    from ctxmt_fairseq.base.files import writing  # here, because much that prints --help reads this module

    with open(log, "ab", buffering=0) as file:  # what a full disk refuses is not tried again on closing
        for line in stream:
            with writing(log):
                file.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()


@contextlib.contextmanager
def interrupts_are_ours() -> Iterator[None]:
    """Let processes that are started in this block ignore Ctrl-C; this process gets it, and ends them.

    A terminal sends it to all of them, and otherwise each would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # processes started from here inherit this
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
