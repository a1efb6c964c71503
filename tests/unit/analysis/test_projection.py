"""Vectors as points of the plane."""

import sys
import warnings

import numpy as np
import pytest
import torch

from ctxmt_fairseq.analysis.context_map import check_umap, project
from ctxmt_fairseq.base.errors import BadInput

CLUSTERS = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
CLUSTERS[12:] += 30


@pytest.mark.slow
def test_a_map_is_decided_by_the_seed_and_keeps_what_is_near_together():
    threads = torch.get_num_threads()
    points = project(CLUSTERS)
    assert torch.get_num_threads() == threads
    assert points.shape == (24, 2) and points.dtype == np.float32 and np.isfinite(points).all()
    np.testing.assert_array_equal(points, project(CLUSTERS))
    assert (points != project(CLUSTERS, seed=2)).any()
    nearest = ((points[:, None] - points[None]) ** 2).sum(2) + 1e9 * np.eye(24)
    assert (nearest.argmin(1) // 12 == np.arange(24) // 12).all()


@pytest.mark.slow
def test_few_or_equal_vectors_have_a_map_without_a_warning():
    for vectors in (CLUSTERS[:4], CLUSTERS[:5], np.ones((6, 3), np.float32)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            points = project(vectors)
        assert points.shape == (len(vectors), 2) and np.isfinite(points).all()


def test_what_has_no_map_is_refused(monkeypatch):
    with pytest.raises(BadInput, match="expected at least 4 texts for a map, found 3"):
        project(CLUSTERS[:3])
    monkeypatch.setitem(sys.modules, "umap", None)
    for what in (check_umap, lambda: project(CLUSTERS)):
        with pytest.raises(
            BadInput, match=r"the map needs umap-learn.*pip install \"\.\[plots\]\" in the checkout"
        ):
            what()
