"""Ctrl-C reaches the process that started the others, and they end with it."""

import multiprocessing
import os
import signal
import threading

import pytest

from ctxmt_fairseq.base.errors import BadInput
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
