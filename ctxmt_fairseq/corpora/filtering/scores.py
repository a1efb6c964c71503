"""Scores of pairs from cross-entropies (the thesis, section 3.4.4), and which pair has which."""

from typing import Iterable

import numpy as np

from ctxmt_fairseq.corpora.filtering.score_files import PathLike, read_scores


def adequacy(forward: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """Dual conditional cross-entropy (Junczys-Dowmunt 2018): exp(-(|A - B| + (A + B) / 2)).

    Args:
        forward, backward: (N,) A and B, the cross-entropies of target given source and source given target
            in nats per word; infinite where there is none.

    Returns:
        (N,) from 0 to 1; 0 where either is infinite.
    """
    known = np.isfinite(forward) & np.isfinite(backward)
    a, b = np.where(known, forward, 0), np.where(known, backward, 0)
    return np.where(known, np.exp(-(np.abs(a - b) + (a + b) / 2)), 0.0)


def domain(in_domain: np.ndarray, general: np.ndarray) -> np.ndarray:
    """How much likelier a sentence is in the domain than in the crawl: min(exp(-(H_in - H_gen)), 1).

    The thesis prints max, and A - B with A of the general model: that would be at least 1, and larger the
    less a sentence is of the domain. Its text says what is meant, "clipped at 1".

    Args:
        in_domain, general: (N,) cross-entropies of target sentences in nats per word; infinite where there is
            none.

    Returns:
        (N,) from 0 to 1; 0 where either is infinite.
    """
    known = np.isfinite(in_domain) & np.isfinite(general)
    difference = np.where(known, in_domain, 0) - np.where(known, general, 0)
    return np.where(known, np.exp(-np.maximum(difference, 0)), 0.0)


class ScoreTable:
    """The scores of a score file by the hash of the pair, at 16 bytes each.

    Args:
        path: of the file; where a pair is in it more than once, its first score counts.

    Raises:
        BadInput: as ``read_scores``.
    """

    def __init__(self, path: PathLike):
        hashes, scores = read_scores(path)
        self._hashes, first = np.unique(hashes, return_index=True)
        self._scores = scores[first]

    def __len__(self) -> int:
        return len(self._hashes)

    def of(self, hashes: np.ndarray) -> np.ndarray:
        """The scores of pairs (N,): (N,), 0 where a pair has none."""
        if not len(self):
            return np.zeros(len(hashes))
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self) - 1)
        return np.where(self._hashes[places] == hashes, self._scores[places], 0.0)


def product(tables: Iterable[ScoreTable], hashes: np.ndarray) -> np.ndarray:
    """The pairs' scores (N,): the product of those of all tables."""
    scores = np.ones(len(hashes))
    for table in tables:
        scores *= table.of(hashes)
    return scores
