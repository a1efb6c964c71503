"""Paired bootstrap and approximate randomization over sufficient statistics.

A corpus score such as BLEU is a function of sums over sampling units (sentences or documents). So only the
units' statistics are resampled, never their text: as matrix products over many samples at once.
"""

from typing import Callable, Iterator, NamedTuple, Sequence, Tuple

import numpy as np
from tqdm.auto import tqdm

_CHUNK = 4_000_000  # numbers that are drawn at once, some 32 MB
_ROUNDING = 1e-9  # sums of the same numbers in another order differ by less

Scorer = Callable[[np.ndarray], np.ndarray]


class PairedTest(NamedTuple):
    """Both tests of two systems on the same units; differences are the second system's score minus the
    first's.

    Attributes:
        low, high: the 2.5 and 97.5 percentiles of the difference over the bootstrap samples.
        wins: the share of bootstrap samples in which the second system scores higher.
        bootstrap_p: two-sided: the share of samples whose difference is as far from their mean as the
            observed one is from 0.
        randomization_p: two-sided, by approximate randomization.
    """

    score_a: float
    score_b: float
    difference: float
    low: float
    high: float
    wins: float
    bootstrap_p: float
    randomization_p: float

    @property
    def p(self) -> float:
        """The p that is corrected and has stars."""
        return self.randomization_p


def ratio(sums: np.ndarray) -> np.ndarray:
    """Means (R,) as a scorer, from sums and counts (R, 2); nan of none."""
    with np.errstate(invalid="ignore"):
        return sums[:, 0] / sums[:, 1]


def total_score(rows: np.ndarray, scorer: Scorer) -> float:
    """The score of all units (N, K) together."""
    return float(scorer(rows.sum(0, keepdims=True))[0])


def bootstrap_scores(statistics: Sequence[np.ndarray], scorer: Scorer, samples: int, seed: int) -> np.ndarray:
    """The scores of S systems on the same R bootstrap samples of N units (Koehn 2004), (S, R), from their
    statistics (N, K), whose sums (R, K) the scorer turns into scores (R,)."""
    units = len(statistics[0])
    generator = np.random.default_rng(seed)
    scores = []
    for rows in _chunks(samples, units):
        drawn = generator.integers(0, units, size=(rows, units))
        drawn += np.arange(rows)[:, None] * units
        times = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)
        scores.append([scorer(times @ system) for system in statistics])
    return np.concatenate(scores, axis=1)


def randomization_p(
    pairs: Sequence[Tuple[np.ndarray, np.ndarray]], scorer: Scorer, samples: int, seed: int
) -> np.ndarray:
    """Approximate randomization (Riezler and Maxwell 2005) of P pairs of systems, each with the statistics
    (N, K) of either: their p-values (P,). Each of R shuffles swaps the statistics of the two systems for
    every unit with probability 1/2, the same units for all pairs; p = (count(\\|D*\\| >= \\|D\\|) + 1) / (R +
    1), where D is the difference of the two scores."""
    units = len(pairs[0][0])
    generator = np.random.default_rng(seed)
    observed = [abs(_difference(first.sum(0), second.sum(0), scorer)) for first, second in pairs]
    count = np.zeros(len(pairs))
    for rows in _chunks(samples, units):
        swapped = generator.integers(2, size=(rows, units), dtype=bool).astype(np.float64)
        for place, (first, second) in enumerate(pairs):
            change = swapped @ (second - first)
            shuffled = _difference(first.sum(0) + change, second.sum(0) - change, scorer)
            count[place] += (np.abs(shuffled) >= observed[place] - _ROUNDING).sum()
    return (count + 1) / (samples + 1)


def _difference(first: np.ndarray, second: np.ndarray, scorer: Scorer) -> np.ndarray:
    return scorer(np.atleast_2d(second)) - scorer(np.atleast_2d(first))


def _chunks(samples: int, units: int) -> Iterator[int]:
    """Multiples of 32 samples, as many as NumPy draws random bits for at once: sizes change nothing."""
    most = max(32, _CHUNK // max(1, units) // 32 * 32)
    with tqdm(total=samples, unit=" samples", delay=1, leave=False, disable=None) as progress:
        for start in range(0, samples, most):
            yield min(most, samples - start)
            progress.update(most)


def paired_tests(
    statistics: Sequence[np.ndarray],
    pairs: Sequence[Tuple[int, int]],
    scorer: Scorer,
    samples: int,
    seed: int,
) -> Sequence[PairedTest]:
    """Both tests of pairs of systems, given as their places in ``statistics``; see the functions above."""
    scores = [total_score(system, scorer) for system in statistics]
    resampled = bootstrap_scores(statistics, scorer, samples, seed)
    randomized = randomization_p([(statistics[a], statistics[b]) for a, b in pairs], scorer, samples, seed)
    results = []
    for (a, b), p in zip(pairs, randomized.tolist(), strict=True):
        differences, difference = resampled[b] - resampled[a], scores[b] - scores[a]
        low, high = (float(np.percentile(differences, share)) for share in (2.5, 97.5))
        far = np.abs(differences - differences.mean()) >= abs(difference) - _ROUNDING
        bootstrap_p = (int(far.sum()) + 1) / (samples + 1)
        wins = float((differences > 0).mean())
        results.append(PairedTest(scores[a], scores[b], difference, low, high, wins, bootstrap_p, p))
    return results
