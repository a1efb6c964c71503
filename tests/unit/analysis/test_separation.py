"""How well vectors separate an attribute: the measures by their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.analysis.context_map import correlation, nearest_alike, separations, silhouette
from ctxmt_fairseq.analysis.labelled_texts import Attribute

POINTS = np.array([[0, 0], [0, 1], [1, 0], [9, 9], [9, 10], [10, 9]], np.float32)
HALVES = np.array(["a", "a", "a", "b", "b", "b"])


def distances(vectors):
    far = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    np.fill_diagonal(far, np.inf)
    return far


PLACES = st.integers(-9000, 9000).map(lambda thousandths: thousandths / 1000)  # no two are nearly the same


@given(st.lists(st.tuples(PLACES, st.sampled_from("abc")), min_size=3, max_size=12, unique=True))
def test_nearest_and_silhouette_by_their_definitions(rows):
    places, values = zip(*rows, strict=True)
    values = np.array(values)
    vectors = np.array([[place, place**2, 1] for place in places], np.float64)
    found = nearest_alike(values, vectors)
    if len(set(values)) < 2:
        assert found is None and silhouette(values, vectors) is None
        return
    far = distances(vectors)
    nearest = [set(values[row == row.min()]) for row in far]  # of equally near ones any may be taken
    least = np.mean([near == {own} for near, own in zip(nearest, values, strict=True)])
    most = np.mean([own in near for near, own in zip(nearest, values, strict=True)])
    assert least - 1e-9 <= found <= most + 1e-9
    if len(set(values)) == len(values):
        assert silhouette(values, vectors) is None
        return
    np.fill_diagonal(far, 0)
    widths = []
    for number, own in enumerate(values):
        own_size = (values == own).sum()
        inside = far[number][values == own].sum() / max(own_size - 1, 1)
        outside = min(far[number][values == other].mean() for other in set(values) - {own})
        widths.append(
            0 if own_size == 1 or not max(inside, outside) else (outside - inside) / max(inside, outside)
        )
    assert silhouette(values, vectors) == pytest.approx(np.mean(widths), abs=1e-6)


def test_separated_strings():
    mixed = np.array(["a", "b", "a", "b", "a", "b"])
    alike, width = separations(Attribute("half", HALVES), POINTS[[0, 3, 1, 4, 2, 5]], POINTS)
    assert (alike.attribute, alike.measure) == ("half", "share of texts like their nearest")
    assert alike.after == 1 and alike.before < 0.5 and alike.chance == pytest.approx(0.4)  # 2 of 5 others
    assert width.measure == "silhouette" and width.before < 0 and width.after > 0.85
    assert nearest_alike(mixed, POINTS) < 0.5


def test_chance_is_what_unrelated_vectors_give():
    rng = np.random.default_rng(1)
    values = rng.choice(["a", "b", "c"], 60, p=[0.6, 0.3, 0.1])
    runs = [separations(Attribute("v", values), *rng.normal(size=(2, 60, 8)))[0] for _ in range(60)]
    assert np.mean([found.before for found in runs]) == pytest.approx(runs[0].chance, abs=0.03)
    numbers = rng.normal(size=60)
    runs = [separations(Attribute("v", numbers), *rng.normal(size=(2, 60, 8)))[0] for _ in range(60)]
    assert np.mean([found.after for found in runs]) == pytest.approx(runs[0].chance, abs=0.1)


def test_numbers_are_compared_with_those_of_their_neighbours():
    line = np.arange(40.0)[:, None]
    shuffled = np.random.default_rng(0).permutation(line)
    (found,) = separations(Attribute("score", line[:, 0] ** 3), shuffled, line)
    assert found.measure == "Spearman's rho with the mean of the 5 nearest"
    assert found.after > 0.99 and abs(found.before) < 0.4 and found.chance == 0
    assert correlation(np.ones(40), line) is None
    # by the definition, with ranks in place of numbers
    values = np.random.default_rng(2).normal(size=40)
    means = [values[np.argsort(row)[:5]].mean() for row in distances(np.column_stack([line, line**1.5]))]
    ranks = [np.argsort(np.argsort(numbers)) for numbers in (values, means)]
    expected = np.corrcoef(*ranks)[0, 1]
    assert correlation(values, np.column_stack([line, line**1.5])) == pytest.approx(expected)


def test_few_texts_have_fewer_neighbours():
    (found,) = separations(Attribute("score", np.array([1.0, 2, 3, 10])), POINTS[:4], POINTS[2:])
    assert "3 nearest" in found.measure
