"""Maps of a model's contexts, how well their vectors separate attributes, and files (MTCue, figure 3)."""

import dataclasses
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import torch

from ctxmt_fairseq.analysis.context_space import ContextSpace
from ctxmt_fairseq.analysis.labelled_texts import Attribute, LabelledTexts
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.base.plots.scatter import draw_scatter
from ctxmt_fairseq.base.tables import aligned_table, csv_text

COLUMNS = ("x before", "y before", "x after", "y after")
LEAST = 4  # points; with fewer, umap-learn's spectral layout has no solution
_UMAP_NEIGHBOURS = 15  # umap-learn's default
NEIGHBOURS = 5  # by which vectors are said to separate numbers
Measure = Callable[[np.ndarray, np.ndarray], Optional[float]]  # of values and vectors


def check_umap() -> Any:
    """The module of umap-learn; refuse a map if it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tensorflow, which is not needed
        return import_of_extra("umap", "plots", "the map needs umap-learn")


def project(vectors: np.ndarray, seed: int = 1) -> np.ndarray:
    """Project (n, D) vectors to (n, 2) float32 points with UMAP's defaults; the seed decides the result."""
    umap = check_umap()
    if len(vectors) < LEAST:
        raise BadInput(f"expected at least {LEAST} texts for a map, found {len(vectors)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about few or equal points, which get a random start
        neighbours = min(_UMAP_NEIGHBOURS, len(vectors) - 1)
        threads = torch.get_num_threads()
        points = umap.UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1).fit_transform(vectors)
        torch.set_num_threads(threads)  # numba, which compiles UMAP, sets it to the number of processors
    return np.asarray(points, np.float32)


@dataclass(frozen=True)
class Separation:
    """A measure of one attribute, before and after the context encoder (None: not defined, as when all values
    are equal), and of vectors that have nothing to do with the attribute (``chance``; None: it depends)."""

    attribute: str
    measure: str
    before: Optional[float]
    after: Optional[float]
    chance: Optional[float]


def separations(attribute: Attribute, before: np.ndarray, after: np.ndarray) -> List[Separation]:
    """The measures that fit an attribute of n texts, at least 2; distances are Euclidean, as in UMAP. For
    strings these are the share of texts whose nearest other text has the same value, and the mean silhouette
    (Rousseeuw 1987: -1 to 1, higher if other values are farther). For numbers it is Spearman's correlation
    between the number of a text and the mean of its ``NEIGHBOURS`` nearest others."""
    values, count = attribute.values, min(NEIGHBOURS, len(before) - 1)
    measures: List[Tuple[str, Measure, Optional[float]]]
    if attribute.numeric:
        measures = [(f"Spearman's rho with the mean of the {count} nearest", correlation, 0.0)]
    else:
        sizes = np.unique(values, return_counts=True)[1]
        chance = float((sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1)))
        alike = "share of texts like their nearest", nearest_alike, chance
        measures = [alike, ("silhouette", silhouette, None)]
    return [Separation(attribute.name, name, of(values, before), of(values, after), chance)
            for name, of, chance in measures]  # fmt: skip


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


@dataclass(frozen=True)
class ContextMap:
    """n contexts on two maps, (n, 2) points before and after the context encoder of a model, whose vectors
    have R and D ``dimensions`` and separate the attributes so well."""

    encoder: str
    model: str
    dimensions: List[int]
    labelled: LabelledTexts
    before: np.ndarray
    after: np.ndarray
    separations: List[Separation]
    seed: int

    def table(self) -> str:
        """A table of how well the vectors separate each attribute; empty without attributes."""
        rows = [["attribute: measure", "before", "after", "by chance"]]
        for found in self.separations:
            numbers = (found.before, found.after, found.chance)
            cells = ("-" if number is None else f"{number:.3f}" for number in numbers)
            rows.append([f"{found.attribute}: {found.measure}", *cells])
        return aligned_table(rows) if self.separations else ""

    def csv(self) -> str:
        """A head, and a line for each text with its attributes and its places."""
        columns = {"text": self.labelled.texts}
        columns |= {attribute.name: attribute.values.tolist() for attribute in self.labelled.attributes}
        places = np.char.mod("%.6f", np.concatenate([self.before, self.after], axis=1)).T.tolist()
        columns |= dict(zip(COLUMNS, places, strict=True))
        return csv_text([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: what ``csv`` does not have."""
        return {
            "model": self.model,
            "encoder": self.encoder,
            "dimensions": self.dimensions,
            "texts": len(self.labelled.texts),
            "seed": self.seed,
            "separations": [dataclasses.asdict(found) for found in self.separations],
        }

    def draw(self) -> bytes:
        """Both maps as the content of a PNG file."""
        panels = [
            (f"before: vectors of {self.encoder}{self._caption('before')}", self.before),
            (f"after: output of the context encoder{self._caption('after')}", self.after),
        ]
        title = f"{len(self.labelled.texts)} contexts of {self.model}"
        return draw_scatter(title, panels, self.labelled.attributes, self.labelled.texts)

    def _caption(self, place: str) -> str:
        """The line on the first attribute in the title of a map; ``place`` is "before" or "after"."""
        lines = []
        for found in self.separations:
            value = getattr(found, place)
            if found.attribute == self.labelled.attributes[0].name and value is not None:
                chance = "" if found.chance is None else f" (by chance {found.chance:.2f})"
                lines.append(f"\n{found.measure}: {value:.2f}{chance}")
        return "".join(lines)


def context_map(
    labelled: LabelledTexts, space: ContextSpace, encoder: str, model: str, seed: int = 1
) -> ContextMap:
    """Make both maps of the contexts, and measure how well their vectors separate the attributes."""
    return ContextMap(
        encoder=Path(encoder).name,
        model=model,
        dimensions=[vectors.shape[1] for vectors in space],
        labelled=labelled,
        before=project(space.before, seed),
        after=project(space.after, seed),
        separations=[found for attribute in labelled.attributes for found in separations(attribute, *space)],
        seed=seed,
    )
