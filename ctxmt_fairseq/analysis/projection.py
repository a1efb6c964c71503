"""Projects vectors to points in the plane with UMAP (McInnes et al. 2018; the extra ``plots``)."""

import warnings

import numpy as np
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra

LEAST = 4  # points; with fewer, umap-learn's spectral layout has no solution
NEIGHBOURS = 15  # umap-learn's default


def check_umap() -> None:
    """Refuse a map if umap-learn is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about tensorflow, which is not needed
        import_of_extra("umap", "plots", "the map needs umap-learn")


def project(vectors: np.ndarray, seed: int = 1) -> np.ndarray:
    """Project (n, D) vectors to (n, 2) float32 points with UMAP's defaults; the seed decides the result."""
    check_umap()
    if len(vectors) < LEAST:
        raise BadInput(f"expected at least {LEAST} texts for a map, found {len(vectors)}")
    with warnings.catch_warnings():
        # about tensorflow, which is not needed, and few or equal points, which get a random start
        warnings.simplefilter("ignore")
        import umap

        neighbours = min(NEIGHBOURS, len(vectors) - 1)
        threads = torch.get_num_threads()
        points = umap.UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1).fit_transform(vectors)
        torch.set_num_threads(threads)  # numba, which compiles UMAP, sets it to the number of processors
    return np.asarray(points, np.float32)
