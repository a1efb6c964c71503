"""Ctrl-C where this process has started others."""

import contextlib
import signal
import threading
from typing import Iterator


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
