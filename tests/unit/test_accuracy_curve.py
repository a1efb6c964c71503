"""Figure 4 of MTCue: the results it is drawn from, its table and its axis."""

import io
import json

import numpy as np
import pytest

from ctxmt_fairseq.analysis.accuracy_curve import by_count, read_result, table
from ctxmt_fairseq.analysis.side_by_side import Value
from ctxmt_fairseq.charts import chart, points_of_runs
from ctxmt_fairseq.errors import BadInput


def Result(system, count, accuracy):
    return Value(system, "accuracy (%)", count, accuracy)


def picture(results):
    return chart(points_of_runs(by_count(results)), "examples")


RESULTS = [
    Result("MTCue", 30, 92.0),
    Result("MTCue", 0, 80.25),
    Result("MTCue", "all", 99.2),
    Result("MTCue", 1, 84.0),
    Result("tagging_$x", 1, 70.0),
    Result("tagging_$x", 30, 85.0),
    Result("tagging_$x", 30, 88.0),
    Result("tagging_$x", 30, 91.0),
]


def write(path, **changes):
    record = {"system": "MTCue", "setting": {"count": 5, "kept": 180}, "accuracy": 90.5, **changes}
    path.write_text(json.dumps(record))
    return path


def test_results_are_read(tmp_path):
    assert read_result(write(tmp_path / "a.json")) == Result("MTCue", 5, 90.5)
    assert read_result(write(tmp_path / "b.json", setting={"count": "all"})) == Result("MTCue", "all", 90.5)
    assert read_result(write(tmp_path / "c.json", setting={"count": 0})).place == 0


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"setting": None}, "--setting"),
        ({"setting": 5}, "an object at the key 'setting'"),
        ({"setting": {}}, "the key 'count'"),
        ({"setting": {"count": -1}}, "0 or more"),
        ({"setting": {"count": "many"}}, "a whole number"),
        ({"accuracy": None}, "expected an accuracy"),
        ({"system": 3}, "a string at the key 'system'"),
    ],
)
def test_other_files_are_refused(tmp_path, change, expected):
    path = write(tmp_path / "result.json", **change)
    with pytest.raises(BadInput) as caught:
        read_result(path)
    assert str(caught.value).startswith(str(path)) and expected in str(caught.value)


def test_the_table_has_a_row_per_count_and_the_range_of_seeds():
    rows = [line.split("  ") for line in table(RESULTS).splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells[0] == ["examples per combination", "MTCue", "tagging_$x"]
    assert cells[2:] == [
        ["0", "80.25", "-"],
        ["1", "84.00", "70.00"],
        ["30", "92.00", "88.00 (85.00 to 91.00)"],
        ["all", "99.20", "-"],
    ]


def test_the_picture_is_a_png_and_shows_every_line():
    from matplotlib.image import imread

    with np.errstate(all="raise"):
        content = picture(RESULTS)
    image = imread(io.BytesIO(content))[..., :3]
    for color in ((31, 119, 180), (255, 127, 14)):  # matplotlib's first two
        assert (np.abs(image - np.array(color) / 255).max(2) < 0.01).sum() > 500
    assert len(picture(RESULTS[:1])) > 1000
