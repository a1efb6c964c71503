"""Charts: their size, their axes and legends; and that pictures are made in one place."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ctxmt_fairseq
from ctxmt_fairseq.base.plots.charts import Point, draw_chart, in_order, place_name

pytest.importorskip("matplotlib")


def shape(names):
    """Height of the picture and of the frame in it, in points."""
    points = [Point("right in %", "own", name, 60.0) for name in names]
    root = ElementTree.fromstring(
        draw_chart(points, "system", bars=True, bases={"right in %": 50}, kind="svg")
    )
    frame = root.find(".//*[@id='patch_2']/*").attrib["d"].split()
    ups = [float(up) for up in frame[2::3]]
    return float(root.attrib["height"].rstrip("pt")), max(ups) - min(ups)


def test_names_that_stand_upright_take_nothing_from_the_plot():
    low, flat = shape(["gated", "control"])
    high, upright = shape([f"s{k}to{k}+shift+CD" for k in range(9)])
    assert high > low + 50
    assert upright == pytest.approx(flat, rel=0.1)


def test_places_are_told_apart_by_their_names():
    places = ["s2to2", 1, 2.0, 0.5, 3e-05, 0.1 + 0.2, 1234567, 1234568]
    names = ["s2to2", "1", "2", "0.5", "3e-05", "0.3", "1234567", "1234568"]
    assert [*map(place_name, places)] == names


SVG = "{http://www.w3.org/2000/svg}text"


def texts(points, *arguments, **how):
    """What is written in a chart, from the first axis on."""
    drawn = ElementTree.fromstring(draw_chart(points, *arguments, kind="svg", **how))
    return ["".join(each.itertext()) for each in drawn.iter(SVG)]


def test_places_are_numbers_ascending_and_then_names():
    places = [30, "all", 0, 1]
    assert in_order([*places, 0, "none", 0.5]) == [0, 0.5, 1, 30, "all", "none"]
    points = [Point("accuracy (%)", "a", place, 50.0) for place in places]
    assert texts(points, "examples")[:5] == ["0", "1", "30", "all", "examples"]


def test_a_system_is_in_the_legend_once_and_in_its_order():
    points = [Point(measure, system, 1, 1.0) for measure in "xy" for system in ("a", "b")]
    points += [Point("y", "c", 1, 3.0)]
    assert texts(points, "epoch", "A title of it")[-4:] == ["A title of it", "a", "b", "c"]
    alone = [Point(measure, measure, 1, 2.0) for measure in ("loss", "ratio")]
    assert texts(alone, "epoch").count("loss") == 1  # the axis, and no legend


def test_each_line_of_a_title_is_broken_by_itself():
    lines = [
        "runs/windows/checkpoints/checkpoint_best.pt",
        "text/test: 255 sentences, 40 documents, 1232 words",
    ]
    assert texts([Point("loss", "loss", 1, 2.0)], "epoch", "\n".join(lines))[-2:] == lines


def test_measures_may_have_axes_of_their_own():
    points = [Point("sentences", "en", 3, 10.0)]
    points += [Point("documents", "all", size, count) for size, count in ((500, 1000.0), (1, 0.0))]
    across = {"sentences": "words", "documents": "sentences of each"}
    written = texts(points, across, logarithmic=["documents"])
    assert written[:2] == ["3", "words"]
    assert {"1", "500", "sentences of each", "1000"} <= set(written)


@pytest.mark.parametrize(("count", "upright"), [(2, False), (9, True)])
def test_values_above_narrow_bars_are_upright_in_a_whole_panel(count, upright):
    points = [Point("x", f"system {number}", "real", 77.7) for number in range(count)]
    points += [Point("x", "system 0", "random", 77.7)]
    drawn = ElementTree.fromstring(draw_chart(points, "context", bars=True, kind="svg"))
    values = [each for each in drawn.iter(SVG) if "".join(each.itertext()) == "77.7"]
    turned = [any("rotate(-90" in value for value in each.attrib.values()) for each in values]
    assert turned == [upright] * (count + 1)


def test_nothing_else_draws():
    package = Path(ctxmt_fairseq.__file__).parent
    drawing = {
        path.relative_to(package).parts[:2]
        for path in package.rglob("*.py")
        if re.search(r"^\s*(import|from) matplotlib", path.read_text(), re.MULTILINE)
    }
    assert drawing == {("base", "plots")}


@pytest.mark.parametrize("places", [["0-10"], ["0-10", "11-20"]])
def test_bands_are_seen(places):
    """A line of one point has no room to fill, so its band has an edge."""
    chart = draw_chart([Point("bleu", "a", place, 50.0, 40.0, 60.0) for place in places], "words", kind="svg")
    band = ElementTree.fromstring(chart).find(".//*[@id='FillBetweenPolyCollection_1']/*/*")
    assert ("stroke-width: 6" in band.get("style", "")) == (len(places) == 1)


def test_values_above_bars_tell_their_heights_apart():
    """COMET and CXMI are small numbers: one digit would be the same for all systems."""
    points = [Point("COMET", "a", "real", 0.8412), Point("COMET", "b", "real", 0.8489)]
    points += [Point("CXMI", "a", "real", 0.0123), Point("CXMI", "b", "real", -0.0024)]
    points += [Point("BLEU", "a", "real", 30.04), Point("none", "a", "real", 0.0)]
    written = texts(points, "context", bars=True)
    assert {"0.841", "0.849", "0.0123", "-0.0024", "30.0"} <= set(written)


@pytest.mark.parametrize(("places", "named"), [([500, 1000, 1500], True), ([500, 510, 1000, 1020], False)])
def test_names_of_places_hide_no_others(places, named):
    written = texts([Point("loss", "loss", place, 2.0) for place in places], "updates")
    assert ({*map(str, places)} <= set(written)) == named
