"""Correction for several comparisons at once, and the stars of a table."""

from typing import List, Sequence

LEVELS = (0.05, 0.01)  # one star, two stars


def holm(values: Sequence[float]) -> List[float]:
    """Adjusted p-values that keep the family-wise error rate (Holm 1979, step-down), in the order given.

    The k-th smallest of m p-values is multiplied by m - k + 1; none may be below a smaller one's or above 1.
    """
    order = sorted(range(len(values)), key=lambda index: values[index])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted


def stars(p: float) -> str:
    """``*`` below .05, ``**`` below .01, else nothing."""
    return "*" * sum(p < level for level in LEVELS)
