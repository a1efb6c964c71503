"""Which systems are compared, McNemar's test, Holm's correction and the stars of a table."""

import itertools
from typing import Callable, Hashable, List, NamedTuple, Sequence, Tuple, TypeVar

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.groups import grouped

EXACT_BELOW = 25  # examples that only one system gets right
LEVELS = (0.05, 0.01)  # one star, two stars
Item = TypeVar("Item")


class McNemar(NamedTuple):
    """The counts of the test, a two-sided p, and the test that gave it: ``exact`` or ``chi-squared``."""

    only_a: int
    only_b: int
    test: str
    p: float


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Test the examples that exactly one of two systems gets right (McNemar 1947).

    Under the null hypothesis either system is equally likely to be the one. For fewer than ``EXACT_BELOW``
    such examples this is a binomial test, otherwise chi-squared of (\\|b - c\\| - 1)^2 / (b + c) with one
    degree of freedom (Edwards' correction for continuity).
    """
    from scipy import stats

    discordant = only_a + only_b
    if discordant < EXACT_BELOW:
        p = float(stats.binomtest(only_a, discordant).pvalue) if discordant else 1.0
        return McNemar(only_a, only_b, "exact", p)
    statistic = max(0, abs(only_a - only_b) - 1) ** 2 / discordant
    return McNemar(only_a, only_b, "chi-squared", float(stats.chi2.sf(statistic, df=1)))


def holm(values: Sequence[float]) -> List[float]:
    """Adjusted p-values that control the family-wise error rate (Holm 1979, step-down), in the given order.

    The k-th smallest of m p-values is multiplied by m - k + 1. An adjusted value is at most 1, and not below
    that of a smaller p-value.
    """
    order = sorted(range(len(values)), key=lambda index: values[index])
    scaled = [min(1.0, (len(values) - rank) * values[index]) for rank, index in enumerate(order)]
    return [p for _, p in sorted(zip(order, itertools.accumulate(scaled, max), strict=True))]


def holm_within(
    items: Sequence[Item], family: Callable[[Item], Hashable], p: Callable[[Item], float]
) -> List[float]:
    """The p-value of each item after Holm's correction over the items of its family."""
    corrected = [0.0] * len(items)
    for places in grouped((family(item), place) for place, item in enumerate(items)).values():
        for place, value in zip(places, holm([p(items[place]) for place in places]), strict=True):
            corrected[place] = value
    return corrected


def stars(p: float) -> str:
    """``*`` below .05, ``**`` below .01, otherwise nothing."""
    return "*" * sum(p < level for level in LEVELS)


def system_pairs(count: int, all_pairs: bool) -> List[Tuple[int, int]]:
    """The pairs of systems to compare, as places: the first with every later one, or all with all."""
    if count < 2:
        raise BadInput(f"expected two or more systems to compare, found {count}")
    return [(a, b) for a, b in itertools.combinations(range(count), 2) if all_pairs or a == 0]
