"""Divides a batch into groups of neighbouring rows of similar length, which have fewer pads."""

from typing import NamedTuple, Tuple

import numpy as np

_BORDERS = 32  # a group may begin at so many places at most, because a batch can have thousands of rows
_SHARE = 0.05  # a group must save this share of the batch's tokens, pads included, to be worth its own call


class Group(NamedTuple):
    """The rows from ``begin`` to before ``end``, and their longest row's tokens for each length given."""

    begin: int
    end: int
    widths: Tuple[int, ...]

    @property
    def rows(self) -> slice:
        return slice(self.begin, self.end)


def length_groups(*lengths: np.ndarray) -> Tuple[Group, ...]:
    """Cut a batch into the groups, in the order of its rows, that have the fewest tokens, pads included, and
    few of them; none: a single group would have all rows. Each of ``lengths`` (n,) has the tokens of one of a
    row's sequences; rows should be sorted by the first."""
    n = len(lengths[0])
    borders = np.unique(np.linspace(0, n, min(n, _BORDERS) + 1).astype(np.int64))
    blocks = len(borders) - 1
    if not blocks:
        return ()
    widths = [np.maximum.reduceat(np.asarray(column, np.int64), borders[:-1]) for column in lengths]
    tokens = np.full((blocks, blocks + 1), np.inf)  # those of a group from one border to before another
    for first in range(blocks):
        longest = sum(np.maximum.accumulate(width[first:]) for width in widths)
        tokens[first, first + 1 :] = longest * (borders[first + 1 :] - borders[first])
    tokens += _SHARE * tokens[0, -1]

    best, begins = np.zeros(blocks + 1), np.zeros(blocks + 1, np.int64)
    for end in range(1, blocks + 1):
        sums = best[:end] + tokens[:end, end]
        begins[end] = sums.argmin()
        best[end] = sums.min()
    groups, end = [], blocks
    while end:
        begin = int(begins[end])
        widest = tuple(int(width[begin:end].max()) for width in widths)
        groups.append(Group(int(borders[begin]), int(borders[end]), widest))
        end = begin
    return tuple(reversed(groups)) if len(groups) > 1 else ()
