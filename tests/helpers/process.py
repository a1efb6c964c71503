"""Measurements that need a process of their own: peak memory, and work on fresh memory."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Callable

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.loggers import quiet_libraries
from ctxmt_fairseq.base.processes import interrupts_are_ours

_STATUS = Path("/proc/self/status")  # getrusage's peak would include the parent's, from before exec


def in_new_process(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a module-level function, called in a new interpreter."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh, initializer=quiet_libraries) as pool:
        with interrupts_are_ours():
            result = pool.submit(function, *args)
        try:
            return result.result()
        except KeyboardInterrupt:
            for process in multiprocessing.active_children():
                process.kill()  # it would measure on for minutes
            raise


def resident(peak: bool) -> float:
    """MiB of this process in memory: now, or the most so far.

    Raises:
        BadInput: not on Linux.
    """
    if not _STATUS.is_file():
        raise BadInput("no such file; peak memory is measured on Linux only", _STATUS)
    name = "VmHWM:" if peak else "VmRSS:"
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024
