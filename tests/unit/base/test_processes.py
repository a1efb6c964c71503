"""Ctrl-C reaches the process that started the others, and they end with it."""

import multiprocessing
import signal
import threading

import pytest

from ctxmt_fairseq.base.processes import interrupts_are_ours
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


def test_other_threads_change_no_signals():
    entered = []

    def enter():
        with interrupts_are_ours():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [signal.getsignal(signal.SIGINT)]
