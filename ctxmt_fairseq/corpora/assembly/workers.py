"""File-wise work on one core, several, or the machines of a dask cluster; results in the work's order."""

import collections
import contextlib
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Callable, Deque, Iterable, Iterator, Optional, TypeVar

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.processes import interrupts_are_ours

Item = TypeVar("Item")
Result = TypeVar("Result")
_AHEAD = 8  # pieces of work per worker that may be under way: the rest stays unread


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int = 1, dask: Optional[str] = None
) -> Iterator[Result]:
    """``work`` of each item, in the order of the items, however many workers there are.

    Args:
        work: a function that other processes can import; what it raises is raised here.
        items: read as the work goes on, never all at once.
        workers: processes; 1 works in this one.
        dask: address of a ``dask.distributed`` scheduler, whose workers are used instead.

    Raises:
        BadInput: the cluster cannot be reached, or dask is not installed.
    """
    if dask is None and workers == 1:
        yield from map(work, items)
        return
    with contextlib.ExitStack() as stack:
        executor, size = _executor(stack, workers, dask)
        waiting: Deque[Future] = collections.deque()
        stack.callback(lambda: [future.cancel() for future in waiting])
        for item in items:
            with interrupts_are_ours():  # a worker is started when there is work for it
                waiting.append(executor.submit(work, item))
            if len(waiting) >= size * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _executor(stack: contextlib.ExitStack, workers: int, dask: Optional[str]) -> "tuple[Executor, int]":
    if dask is None:
        # Not forked: a child must not share the parent's threads and open files.
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        return stack.enter_context(pool), workers
    try:
        from distributed import Client
    except ImportError:
        raise BadInput("--dask: expected dask.distributed: pip install distributed") from None
    try:
        client = stack.enter_context(Client(dask, timeout=30))
    except OSError as error:
        raise BadInput(f"--dask {dask}: no scheduler answers: {error}") from None
    threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
    return client.get_executor(), max(1, threads)
