"""Broken files among many good ones: they stop the work, or are counted and listed."""

import functools
from typing import Callable, TypeVar

from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.errors import BadInput

Item = TypeVar("Item")


def skipping(work: Callable[[Item], Part], units: Callable[[Item], int]) -> Callable[[Item], Part]:
    """``work``, but for an item that raises BadInput a part that leaves all its units out."""
    return functools.partial(_skip, work, units)


def _skip(work: Callable[[Item], Part], units: Callable[[Item], int], item: Item) -> Part:
    try:
        return work(item)
    except BadInput as error:
        read = units(item)
        account = Account(read=read, broken=[str(error)])
        account.left_out["in broken files"] += read
        return Part([], account)
