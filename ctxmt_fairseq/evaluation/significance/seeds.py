"""Differences of systems over seeds and examples together.

Other seeds would give a system other scores, and so would other examples. A test over examples alone takes
the seeds that happened as all there are: it is about these trained models. Here both are random, as radiology
compares methods over readers and cases (Dorfman, Berbaum and Metz 1992, "Receiver operating characteristic
rating analysis"): an analysis of variance of what each example adds to each run's score, seeds being readers.
"""

from typing import Any, Dict, Iterable, List, NamedTuple, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.evaluation.significance.resampling import Scorer

METHOD = "over seeds and {unit}s: variance of Dorfman et al. (1992), t of Cochran and Cox (1957); {runs}"
SEEDS_ALONE = "over seeds, on these {unit}s: Student's t, or that of Cochran and Cox (1957); {runs}"
MATCHED, INDEPENDENT = "the n-th runs of both systems are one seed", "runs of both systems are independent"
ONE_RUN = "one run of each system: this is about these trained models; other seeds may give other differences"
TWO_RUNS = "two runs are too few to say much about other seeds"
ENOUGH = 3  # seeds; two say next to nothing of others
LEAST = 1e-16  # p
_NOTHING = 1e-12  # deviations below it are rounding


class OverSeeds(NamedTuple):
    """The difference of two systems, the second's mean score minus the first's, with its 95 % interval; ``p``
    is two-sided, ``method`` the test and its source."""

    score_a: float
    score_b: float
    mean: float
    low: float
    high: float
    p: float
    seeds: Tuple[int, int]
    method: str

    @property
    def difference(self) -> float:
        """The mean, as tests of two trained models call it."""
        return self.mean


def over_seeds(first: np.ndarray, second: np.ndarray, unit: str = "example") -> OverSeeds:
    """Compare two systems by an analysis of variance over seeds and examples.

    If they have as many runs, their n-th runs are one seed, and the differences (S, N) are analysed: seeds
    often share the order of batches or a first stage, and if they do not, this costs power alone. Otherwise
    runs are independent, and R and E are sums over both systems.

    With R = var(row means) / S, C = var(column means) / N and E the interaction's mean square by S N, the
    variance of the difference is R + max(C - E, 0), but not below C, what the examples alone give: a few
    seeds may lie together by chance. Its quantiles are the means of Student's, with S - 1 degrees of freedom
    for R and N - 1 for the rest, weighted by these parts (Cochran and Cox 1957, "Experimental Designs", for
    two variances). Satterthwaite's approximation finds up to twice as many differences as it should with
    three seeds, this one none too many. Where all differences are the same, p is that of a sign test.

    Args:
        first, second: what each of N examples adds to the score of each run, (S, N), S of its own for either
            system. The mean of a row is the run's score, see ``pseudovalues``. A single run is taken as the
            only one; a single example as all there are.
        unit: what the examples are called.
    """
    from scipy.optimize import brentq
    from scipy.stats import t

    matched, units = len(first) == len(second), first.shape[1]
    tables = [second - first] if matched else [first, second]
    several = [table for table in tables if len(table) > 1]
    parts = [float(table.mean(1).var(ddof=1)) / len(table) for table in several]
    degrees = [len(table) - 1 for table in several]
    if units > 1:
        alone = float((second.mean(0) - first.mean(0)).var(ddof=1)) / units
        of_examples = max(alone - sum(map(_interaction, several)), 0.0)
        parts.append(max(of_examples, alone - sum(parts)))
        degrees.append(units - 1)
    deviation, difference = sum(parts) ** 0.5, float(second.mean() - first.mean())

    def half(p: float) -> float:
        """Half of the interval that leaves p out."""
        return float(np.dot(parts, t.isf(p / 2, degrees))) / deviation

    p, wide = 1.0, 0.0
    if deviation > _NOTHING * max(1.0, abs(difference)):
        wide, p = half(0.05), LEAST
        if abs(difference) < half(LEAST):
            p = float(brentq(lambda p: half(p) - abs(difference), LEAST, 1.0))
    elif abs(difference) > _NOTHING:
        p = 2.0 ** (1 - max(units, *map(len, tables)))
    runs = MATCHED if matched else INDEPENDENT
    method = (METHOD if units > 1 else SEEDS_ALONE).format(unit=unit, runs=runs)
    scores, interval = (float(first.mean()), float(second.mean())), (difference - wide, difference + wide)
    return OverSeeds(*scores, difference, *interval, p, (len(first), len(second)), method)


def _interaction(table: np.ndarray) -> float:
    """E of a table (S, N), S > 1."""
    seeds, units = table.shape
    rest = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    return float((rest**2).sum()) / max(1, (seeds - 1) * (units - 1)) / table.size


def pseudovalues(rows: np.ndarray, scorer: Scorer) -> np.ndarray:
    """What each of N units adds to a score that is a function of their sum, of statistics (N, K): jackknife
    pseudovalues (N,). score + (N - 1) (mean of the scores without a unit - score without this one),
    normalised so that their mean is the score (Hillis, Obuchowski, Schartz and Berbaum 2005). Of a mean they
    are the units' own values."""
    total = rows.sum(0, keepdims=True)
    without = scorer(total - rows)
    return scorer(total)[0] + (len(rows) - 1) * (without.mean() - without)


def runs_of(names: Sequence[str]) -> Dict[str, List[int]]:
    """System -> the places of its runs; those of one name are runs of one system."""
    return grouped((name, place) for place, name in enumerate(names))


def run_names(names: Sequence[str]) -> List[str]:
    """A name of its own for each run; ``names`` are their systems'."""
    runs = runs_of(names)
    return [
        f"{name}, run {runs[name].index(place) + 1}" if len(runs[name]) > 1 else name
        for place, name in enumerate(names)
    ]


def about(names: Sequence[str], results: Iterable[Any] = (), draws: object = "") -> str:
    """What tests are about, systems or trained models, and how they were made; empty of one system."""
    runs = {name: len(places) for name, places in runs_of(names).items()}
    if len(runs) < 2:
        return ""
    single = [name for name, count in runs.items() if count == 1]
    if len(single) == len(runs):
        return f"{draws}\n{ONE_RUN}".strip()
    few = [name for name, count in runs.items() if 1 < count < ENOUGH]
    said = list(dict.fromkeys(one.method for one in results if isinstance(one, OverSeeds)))
    said += [f"{name} has one run: as this trained model, not as a system" for name in single]
    said += [f"{name}: {TWO_RUNS}" for name in few]
    return "\n".join(said)
