"""Which systems are compared with which, and the correction over them."""

import itertools
from typing import Callable, Dict, Hashable, List, Sequence, Tuple, TypeVar

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.significance.correction import holm

Item = TypeVar("Item")


def system_pairs(count: int, all_pairs: bool) -> List[Tuple[int, int]]:
    """Places of the systems that are compared: every later one with the first, or all with all.

    Raises:
        BadInput: fewer than two systems.
    """
    if count < 2:
        raise BadInput(f"expected two or more systems to compare, found {count}")
    pairs = itertools.combinations(range(count), 2)
    return [(a, b) for a, b in pairs if all_pairs or a == 0]


def holm_within(
    items: Sequence[Item], family: Callable[[Item], Hashable], p: Callable[[Item], float]
) -> List[float]:
    """Each item's p-value after Holm's correction over the items of its family."""
    families: Dict[Hashable, List[int]] = {}
    for place, item in enumerate(items):
        families.setdefault(family(item), []).append(place)
    corrected = [0.0] * len(items)
    for places in families.values():
        for place, value in zip(places, holm([p(items[place]) for place in places]), strict=True):
            corrected[place] = value
    return corrected
