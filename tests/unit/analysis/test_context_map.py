"""The picture of maps and its files."""

import csv
import io
import json
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.analysis.context_map import context_map
from ctxmt_fairseq.analysis.context_space import ContextSpace
from ctxmt_fairseq.analysis.labelled_map import write_picture
from ctxmt_fairseq.analysis.labelled_texts import Attribute, LabelledTexts
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import check_matplotlib
from ctxmt_fairseq.base.paths import Scatter
from ctxmt_fairseq.base.plots.scatter import (
    LETTER,
    LINE,
    MARKERS,
    POINT,
    REST,
    draw_scatter,
    groups,
    name_places,
)

# ---- picture ---------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("abcdefg"), min_size=1), st.integers(2, 8))
def test_the_rarest_values_share_a_group(values, most):
    names, members = groups(np.array(values), most)
    first = list(dict.fromkeys(values))
    kept = [name for name in names if name != REST]
    assert kept == [name for name in first if name in kept] and len(names) <= most
    assert [names[member] for member in members] == [value if value in kept else REST for value in values]
    assert (REST in names) == (len(first) > most)
    if REST in names:
        assert len(names) == most
        rest = max(values.count(value) for value in first if value not in kept)
        assert all(values.count(name) >= rest for name in kept)


def image(*arguments):
    from matplotlib.image import imread

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return imread(io.BytesIO(draw_scatter("A map", *arguments)))[..., :3]


def coloured(picture, colour):
    """How many pixels have the colour of a point, which white shines through."""
    from matplotlib.colors import to_rgb

    return (np.abs(picture - (0.85 * np.array(to_rgb(colour)) + 0.15)).max(2) < 0.02).sum()


GRID = np.stack(np.meshgrid(np.arange(6.0), np.arange(4.0)), -1).reshape(-1, 2)
PANELS = [("before", GRID), ("after", GRID[::-1])]


def test_each_value_has_its_colour_on_both_maps():
    plain = image(PANELS)
    names = ("value", np.array(["a"] * 6 + ["b"] * 18))
    both, one = image(PANELS, [names]), image(PANELS[:1], [names])
    assert both.shape[1] > plain.shape[1]  # the legend
    counts = [coloured(both, colour) for colour in ("tab:blue", "tab:orange")]
    assert counts[0] > 600 and counts[1] == pytest.approx(3 * counts[0], rel=0.15)
    assert coloured(plain, "tab:blue") == pytest.approx(sum(counts), rel=0.15)
    assert coloured(one, "tab:orange") == pytest.approx(counts[1] / 2, rel=0.15)


def test_names_hide_neither_each_other_nor_points():
    rng = np.random.default_rng(1)
    names = ["x" * int(length) for length in rng.integers(3, 20, 30)]
    points = rng.uniform(0.2, 4.8, (30, 2))
    sizes = np.array([[LETTER * len(name), LINE] for name in names])
    centres = name_places(points, names, 5.0)
    assert (centres - sizes / 2 > -1e-6).all() and (centres + sizes / 2 < 5 + 1e-6).all()
    for number in range(30):
        apart = abs(centres - centres[number]) - (sizes + sizes[number]) / 2
        assert (apart.max(axis=1) > -1e-6).sum() == 29  # all but itself
        assert (abs(points - centres[number]) > (sizes[number] + POINT) / 2 - 1e-6).any(axis=1).all()


def test_up_to_30_points_are_named():
    drawn = [draw_scatter("", PANELS[:1], (), ["$x^2$ _a"] * count) for count in (0, 24)]
    assert drawn[0] != drawn[1]
    many = [("before", np.concatenate([GRID, GRID + 0.5]))]
    assert draw_scatter("", many, (), ["a"] * 48) == draw_scatter("", many)


def test_numbers_have_a_colour_bar():
    from matplotlib import colormaps

    shown = image(PANELS, [("score", np.arange(24.0))])
    for number in (2, 12, 21):
        colour = colormaps["viridis"](number / 23)
        edge = int(0.9 * shown.shape[1])
        maps, bar = shown[:, :edge], shown[:, edge:]
        assert coloured(maps, colour) > 50 and coloured(bar, colour) > 100


def test_the_second_attribute_has_markers():
    names = np.array(["in", "out"] * 12)
    colour = ("value", np.array(["a"] * 24))
    circles, crosses = (
        coloured(image(PANELS, attributes), "tab:blue")
        for attributes in ([colour], [colour, ("domain", names)])
    )
    assert 0.5 * circles < crosses < 0.8 * circles  # half of the points are crosses, which are thin


@pytest.mark.parametrize("name", ["$\\frac$", "_hidden", "中文", "<x>", "a" * 300])
def test_any_value_and_any_number_of_them_can_be_drawn(name):
    many = np.array([f"{name}{number}" for number in range(24)])
    image(PANELS, [("value", many), ("marker", many)])
    image(PANELS, [("value", np.ones(24)), ("marker", many[: len(MARKERS)].repeat(3))])


def test_a_matplotlib_that_does_not_go_with_this_numpy_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "matplotlib.py").write_text('raise AttributeError("_ARRAY_API not\\nfound")')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    with pytest.raises(BadInput, match="needs matplotlib, which cannot be imported: _ARRAY_API not found"):
        check_matplotlib()


def test_without_matplotlib_there_is_no_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match="a picture needs matplotlib.*pip install matplotlib"):
        draw_scatter("A map", PANELS)


# ---- files -----------------------------------------------------------------------------------------------


BEFORE = np.random.default_rng(0).normal(size=(24, 9))
AFTER = np.concatenate([BEFORE[:12, :6], BEFORE[12:, :6] + 30])
PLACES = ["near"] * 12 + ["far"] * 12


@pytest.fixture
def mapped(monkeypatch):
    """A function that makes a map of texts; in place of UMAP, the first two dimensions."""
    monkeypatch.setattr("ctxmt_fairseq.analysis.context_map.project", lambda vectors, seed: vectors[:, :2])

    def make(*attributes):
        labelled = LabelledTexts([f'text "{number}", $' for number in range(24)], attributes)
        return context_map(labelled, ContextSpace(BEFORE, AFTER), "/models/distilbert", "mtcue_transformer")

    return make


@pytest.fixture
def shown(mapped):
    return mapped(Attribute("place", np.array(PLACES)), Attribute("score", np.arange(24.0)))


def test_files(tmp_path, shown):
    picture = Scatter(str(tmp_path / "map.png"))
    files = write_picture(picture, shown.draw(), shown.csv(), shown.as_dict())
    assert [file.name for file in files] == ["map.png", "map.csv", "map.json"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert files[0].read_bytes().startswith(b"\x89PNG")
    with open(files[1], encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["text", "place", "score", "x before", "y before", "x after", "y after"]
    assert [row[0] for row in rows] == shown.labelled.texts and [row[1] for row in rows] == PLACES
    numbers = np.array([row[2:] for row in rows], float)
    np.testing.assert_allclose(
        numbers, np.column_stack([np.arange(24), BEFORE[:, :2], AFTER[:, :2]]), atol=1e-6
    )
    content = json.loads(files[2].read_text())
    assert (content["model"], content["encoder"]) == ("mtcue_transformer", "distilbert")
    assert (content["dimensions"], content["texts"], content["seed"]) == ([9, 6], 24, 1)
    measures = [(each["attribute"], each["measure"].split()[0]) for each in content["separations"]]
    assert measures == [("place", "share"), ("place", "silhouette"), ("score", "Spearman's")]
    assert content["separations"][0]["after"] == 1 and content["separations"][1]["after"] > 0.8


def test_the_table_has_the_numbers_of_every_attribute(shown):
    lines = shown.table().splitlines()
    assert len(lines) == 5 and lines[0].split() == [
        "attribute:",
        "measure",
        "before",
        "after",
        "by",
        "chance",
    ]
    assert lines[2].startswith("place: share of texts like their nearest") and "1.000" in lines[2]
    assert lines[3].split()[-1] == "-"


def test_without_differences_there_is_no_separation(mapped):
    equal = mapped(Attribute("v", np.array(["x"] * 24)))
    assert {found.before for found in equal.separations} == {None} and " - " in equal.table()
    assert mapped().table() == ""
    for shown in (equal, mapped()):
        assert shown.draw().startswith(b"\x89PNG")
