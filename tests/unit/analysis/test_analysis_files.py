"""The picture of a map, and the numbers beside it."""

import io
import json
import struct
import sys
import warnings

import numpy as np
import pytest

from ctxmt_fairseq.analysis.labelled_map import LabelledMap, write_map
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.plots.drawing import LONGEST_SIDE, RESOLUTION
from ctxmt_fairseq.base.plots.heat_map import CELL, draw_heat_map


def labelled(rows=4, columns=6, sections=(), title="A map", name="▁t"):
    values = np.random.default_rng(rows).dirichlet(np.ones(columns), rows)
    names = [[f"{name}{number}" for number in range(count)] for count in (rows, columns)]
    return LabelledMap(title, values, *names, "source", "context", sections)


def picture(shown, **how):
    return draw_heat_map(shown, **how)


def pixels(png):
    """Width and height that the file itself states."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize(
    "shown",
    [
        labelled(),
        labelled(12, 30, [("source −2", 20), ("source −1", 10)]),
        labelled(2, 3, [("source −1", 1)] * 3, title="A title that is much longer than the map is wide"),
        labelled(1, 240),
    ],
)
def test_the_size_follows_from_the_map(shown):
    width, height = pixels(picture(shown))
    assert max(width, height) <= LONGEST_SIDE
    if len(shown.columns) < 240:
        assert width > CELL * len(shown.columns) * RESOLUTION and height > CELL * len(shown.rows) * RESOLUTION


def test_cells_are_as_dark_as_their_values():
    from matplotlib.image import imread

    names = list("abcdefgh")
    shown = LabelledMap("", np.eye(8)[::-1], names, names, "token", "group")
    image = imread(io.BytesIO(picture(shown, highest=1.0)))[..., :3]
    darkest = np.abs(image - np.array([8, 48, 107]) / 255).max(2) < 0.01
    darkest[:, int(0.78 * image.shape[1]) :] = False  # the colour bar
    counts, _, _ = np.histogram2d(*np.nonzero(darkest), bins=8)
    np.testing.assert_allclose(counts[::-1], np.eye(8) * counts.max(), atol=0.1 * counts.max())


def test_annotations_show():
    shown = labelled()
    assert len(picture(shown, annotate=True)) > len(picture(shown))


@pytest.mark.parametrize("name", ["$\\frac$", "_{x}^", "<bos>", "中文", "\u2581", "a" * 300])
def test_any_label_can_be_drawn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pixels(picture(labelled(name=name, title=name)))


def test_files(tmp_path):
    shown = labelled(3, 2, [("source −1", 2)])
    files = write_map(tmp_path / "map.png", shown, {"useful": [1, 2, 3]})
    assert [file.name for file in files] == ["map.png", "map.tsv", "map.json"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert pixels(files[0].read_bytes())
    head, *lines = (line.split("\t") for line in files[1].read_text().splitlines())
    assert head == ["source", "▁t0", "▁t1"] and [line[0] for line in lines] == ["▁t0", "▁t1", "▁t2"]
    table = [[float(cell) for cell in line[1:]] for line in lines]
    np.testing.assert_allclose(table, shown.values, atol=1e-6)
    content = json.loads(files[2].read_text())
    assert content == {
        "title": "A map",
        "source": shown.rows,
        "context": shown.columns,
        "sections": [{"name": "source −1", "columns": 2}],
        "values": shown.values.tolist(),
        "useful": [1, 2, 3],
    }


def test_what_cannot_be_written_is_refused(tmp_path, monkeypatch):
    for path, message in (("map.pdf", "end in .png"), ("nowhere/map.png", "no such folder: .*nowhere")):
        with pytest.raises(BadInput, match=message):
            write_map(tmp_path / path, labelled())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match="a picture needs matplotlib.*pip install matplotlib"):
        write_map(tmp_path / "map.png", labelled())
    assert not list(tmp_path.iterdir())
