"""McNemar's test: do two systems that answered the same examples differ in accuracy?"""

from typing import NamedTuple

EXACT_BELOW = 25  # discordant examples


class McNemar(NamedTuple):
    """The test's result.

    Attributes:
        test: ``exact`` or ``chi-squared``.
        p: two-sided.
    """

    test: str
    p: float


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Test the examples that exactly one of two systems has right (McNemar 1947).

    Under the null hypothesis each of them is as likely one system's as the other's. Below ``EXACT_BELOW``
    such examples that is a binomial test; from there on chi-squared of (\\|b - c\\| - 1)^2 / (b + c) with one
    degree of freedom (Edwards' correction for continuity).

    Args:
        only_a, only_b: examples that only the first, only the second system has right.
    """
    from scipy import stats

    discordant = only_a + only_b
    if discordant < EXACT_BELOW:
        p = stats.binomtest(only_a, discordant).pvalue if discordant else 1.0
        return McNemar("exact", float(p))
    statistic = max(0, abs(only_a - only_b) - 1) ** 2 / discordant
    return McNemar("chi-squared", float(stats.chi2.sf(statistic, df=1)))
