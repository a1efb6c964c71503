"""The size of charts."""

from xml.etree import ElementTree

import pytest

from ctxmt_fairseq.charts import Point, chart

pytest.importorskip("matplotlib")


def shape(names):
    """Height of the picture and of the frame in it, in points."""
    points = [Point("right in %", "own", name, 60.0) for name in names]
    root = ElementTree.fromstring(chart(points, "system", bars=True, bases={"right in %": 50}, kind="svg"))
    frame = root.find(".//*[@id='patch_2']/*").attrib["d"].split()
    ups = [float(up) for up in frame[2::3]]
    return float(root.attrib["height"].rstrip("pt")), max(ups) - min(ups)


def test_names_that_stand_upright_take_nothing_from_the_plot():
    low, flat = shape(["gated", "control"])
    high, upright = shape([f"s{k}to{k}+shift+CD" for k in range(9)])
    assert high > low + 50
    assert upright == pytest.approx(flat, rel=0.1)
