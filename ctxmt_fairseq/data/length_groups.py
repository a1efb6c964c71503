"""Neighbouring rows of a batch in groups of like length: computed group by group it has fewer pads."""

from typing import NamedTuple, Tuple

import numpy as np

_BORDERS = 32  # places where a group may begin, at most: a batch can have thousands of rows
_SHARE = 0.05  # of the batch's tokens, pads included: a group that saves less is not worth its own call


class Group(NamedTuple):
    """Rows from ``begin`` to before ``end``.

    Attributes:
        widths: the longest one's tokens, of each of the lengths that ``length_groups`` was given.
    """

    begin: int
    end: int
    widths: Tuple[int, ...]

    @property
    def rows(self) -> slice:
        return slice(self.begin, self.end)


def length_groups(*lengths: np.ndarray) -> Tuple[Group, ...]:
    """Cut a batch into the groups that have the fewest tokens, pads included, and few of them.

    Args:
        lengths: (n,) tokens of each of n rows, for every sequence that a row has; the rows should stand in
            the order of the first.

    Returns:
        groups that hold all rows, in their order; none where a single one would.
    """
    n = len(lengths[0])
    borders = np.unique(np.linspace(0, n, min(n, _BORDERS) + 1).astype(np.int64))
    blocks = len(borders) - 1
    if not blocks:
        return ()
    widths = [np.maximum.reduceat(np.asarray(column, np.int64), borders[:-1]) for column in lengths]
    tokens = np.full((blocks, blocks + 1), np.inf)  # of a group from one border to before another
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
