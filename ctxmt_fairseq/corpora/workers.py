"""Works on files with one core or several, and gives the results in the files' order."""

import collections
import itertools
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Callable, Deque, Iterable, Iterator, List, TypeVar

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.processes import interrupts_are_ours
from ctxmt_fairseq.corpora.pairs import Account, Part

Item = TypeVar("Item")
Result = TypeVar("Result")
_AHEAD = 8  # so many pieces of work for each worker are under way at most; the others are not read yet


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int = 1) -> Iterator[Result]:
    """Yield ``work`` of each item, in the order of the items, however many workers (processes; 1: this one)
    there are. Other processes can import ``work``; what it raises is raised here. Items are read as it goes
    on, never all at once."""
    if workers == 1:
        yield from map(work, items)
        return
    waiting: Deque[Future] = collections.deque()
    # Not forked, because a child must not share the parent's threads and open files.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            for item in items:
                with interrupts_are_ours():  # a worker is started when there is work for it
                    waiting.append(pool.submit(work, item))
                if len(waiting) >= workers * _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenExecutor:
            raise BadInput("a worker was ended, perhaps for lack of memory; choose fewer --workers") from None
        finally:
            for future in waiting:
                future.cancel()


def chunks(items: Iterable[Item], size: int) -> Iterator[List[Item]]:
    """Yield the items in lists of ``size``; the last one may be shorter."""
    left = iter(items)
    while chunk := list(itertools.islice(left, size)):
        yield chunk


def skipping(work: Callable[[Item], Part], units: Callable[[Item], int], item: Item) -> Part:
    """Do the work; of an item that raises ``BadInput`` make a part that leaves all its units out."""
    try:
        return work(item)
    except BadInput as error:
        account = Account()
        account.leave_out("in broken files", units(item), error)
        return Part([], account)
