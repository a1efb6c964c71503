"""Processes beside this one."""

import contextlib
import signal
import threading
from typing import Iterator


@contextlib.contextmanager
def interrupts_are_ours() -> Iterator[None]:
    """Processes that are started in this block leave Ctrl-C to this one, which then ends them.

    A terminal sends it to all of them, and by themselves each would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone may say what signals do
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # started processes, forked or not, ignore it too
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
