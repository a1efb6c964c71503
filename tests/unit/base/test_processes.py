"""Ctrl-C reaches the process that started the others, and they end with it."""

import contextlib
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ctxmt_fairseq.base.drafts import Lock
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.processes import interrupts_are_ours, run_logged
from ctxmt_fairseq.corpora.workers import in_order


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_started_processes_ignore_interrupts(method):
    before = signal.getsignal(signal.SIGINT)
    with interrupts_are_ours():
        pool = multiprocessing.get_context(method).Pool(1)
    assert signal.getsignal(signal.SIGINT) is before
    with pool:
        assert pool.apply(signal.getsignal, (signal.SIGINT,)) == signal.SIG_IGN


def test_workers_that_read_corpora():
    assert list(in_order(signal.getsignal, [signal.SIGINT] * 3, workers=2)) == [signal.SIG_IGN] * 3


def test_a_worker_that_is_killed_is_said_in_one_line():
    with pytest.raises(BadInput, match="a worker was ended, perhaps for lack of memory"):
        list(in_order(os._exit, [9], workers=2))


def test_other_threads_change_no_signals():
    entered = []

    def enter():
        with interrupts_are_ours():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [signal.getsignal(signal.SIGINT)]


LONG = """
import contextlib, time
for _ in range(300):
    with contextlib.suppress(OSError):  # as logging does
        print("a line", flush=True)
    time.sleep(0.1)
"""


def test_a_command_ends_with_what_it_is_logged_to(tmp_path, monkeypatch):
    """A training went on for hours behind "| head", without a log."""

    class Closed:
        def write(self, line):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    class Stdout:
        buffer = Closed()

    began = time.monotonic()
    with pytest.raises(BadInput, match="/dev/full: cannot be written: No space left on device"):
        run_logged([sys.executable, "-c", LONG], "/dev/full")
    monkeypatch.setattr(sys, "stdout", Stdout())
    with pytest.raises(BrokenPipeError):
        run_logged([sys.executable, "-c", LONG], tmp_path / "log")
    assert time.monotonic() - began < 20


def test_a_command_ends_with_us_from_its_first_moment(monkeypatch):
    class Slow(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Slow)
    began = time.monotonic()
    before = signal.signal(signal.SIGTERM, lambda *_: pytest.fail("the signal was not the command's"))
    try:
        assert run_logged(["sleep", "60"]) == 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)
    assert time.monotonic() - began < 20


def test_a_command_holds_the_lock_of_a_process_that_is_killed(tmp_path):
    log, command = tmp_path / "log", "import time; print('began', flush=True); time.sleep(60)"
    program = f"""
import sys
from pathlib import Path
from ctxmt_fairseq.base.drafts import Lock
from ctxmt_fairseq.base.processes import run_logged
run_logged([sys.executable, "-c", {command!r}], Path({str(log)!r}), Lock({str(log)!r}))
"""
    log.touch()
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout.readline() == b"began\n"
        process.kill()
        process.wait()
        with pytest.raises(BlockingIOError):
            Lock(log)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    while True:
        with contextlib.suppress(BlockingIOError):
            Lock(log).close()
            break
