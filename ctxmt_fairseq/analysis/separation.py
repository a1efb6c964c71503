"""Measures how well vectors separate the values of an attribute, in the full space and not in the picture."""

from dataclasses import dataclass
from typing import Callable, List, Optional

import numpy as np

from ctxmt_fairseq.analysis.labelled_texts import Attribute

NEIGHBOURS = 5


@dataclass(frozen=True)
class Separation:
    """A measure of one attribute, before and after the context encoder.

    Attributes:
        before, after: None if the measure is not defined, as when all values are equal.
        chance: the value for vectors that have nothing to do with the attribute; None: it depends.
    """

    attribute: str
    measure: str
    before: Optional[float]
    after: Optional[float]
    chance: Optional[float]


def separations(attribute: Attribute, before: np.ndarray, after: np.ndarray) -> List[Separation]:
    """The measures that fit an attribute; distances are Euclidean, as in UMAP.

    For strings these are the share of texts whose nearest other text has the same value, and the mean
    silhouette (Rousseeuw 1987: -1 to 1, higher if other values are farther). For numbers it is Spearman's
    correlation between the number of a text and the mean of its ``NEIGHBOURS`` nearest others.

    Args:
        before, after: (n, R) and (n, D), n at least 2.
    """
    count = min(NEIGHBOURS, len(before) - 1)

    def measured(
        name: str, of: Callable[[np.ndarray, np.ndarray], Optional[float]], chance: Optional[float]
    ) -> Separation:
        values = attribute.values
        return Separation(attribute.name, name, of(values, before), of(values, after), chance)

    if attribute.numeric:
        return [measured(f"Spearman's rho with the mean of the {count} nearest", correlation, 0.0)]
    sizes = np.unique(attribute.values, return_counts=True)[1]
    chance = float((sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1)))
    return [
        measured("share of texts like their nearest", nearest_alike, chance),
        measured("silhouette", silhouette, None),
    ]


def _nearest(vectors: np.ndarray, count: int) -> np.ndarray:
    """(n, count): the nearest other vectors of each vector."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=count).fit(vectors).kneighbors(return_distance=False)


def nearest_alike(values: np.ndarray, vectors: np.ndarray) -> Optional[float]:
    """The share of texts whose nearest other text has the same value."""
    if len(np.unique(values)) < 2:
        return None
    return float((values[_nearest(vectors, 1)[:, 0]] == values).mean())


def silhouette(values: np.ndarray, vectors: np.ndarray) -> Optional[float]:
    """The mean silhouette; None if all values are equal, or all distinct."""
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(values)) < len(values):
        return None
    return float(silhouette_score(vectors, values))


def correlation(values: np.ndarray, vectors: np.ndarray) -> Optional[float]:
    """The rank correlation between the number of each text and the mean of its nearest others."""
    from scipy.stats import spearmanr

    means = values[_nearest(vectors, min(NEIGHBOURS, len(values) - 1))].mean(axis=1)
    return float(spearmanr(values, means).statistic) if np.ptp(values) and np.ptp(means) else None
