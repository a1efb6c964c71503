"""The benchmark beside an earlier call of it."""

import json

import pytest

from scripts.benchmark.__main__ import main
from scripts.benchmark.earlier import Earlier
from scripts.benchmark.paired import Comparison

RATIO = ("median", "min", "max")


def comparison(*ratios, name="train tiny"):
    return Comparison(name, ("ours", "stock"), "s", [(ratio, 1.0) for ratio in ratios])


def report(path, *comparisons):
    entries = [each.as_dict() for each in comparisons]
    path.write_text(json.dumps({"machine": "a machine", "comparisons": entries}), encoding="utf-8")
    return path


@pytest.mark.parametrize("now, apart", [((1.1, 1.3), False), ((1.21, 1.3), True), ((0.7, 0.9), True)])
def test_a_ratio_beyond_all_of_an_earlier_call_is_marked(now, apart, tmp_path):
    earlier = Earlier.read(
        report(tmp_path / "earlier.json", comparison(1.0, 1.2), comparison(2.0, name="gone"))
    )
    current = comparison(*now)
    change = earlier.change(current)
    assert change["apart"] is apart and change["ratio"] == {"median": 1.1, "min": 1.0, "max": 1.2}
    assert change["now_to_earlier"] == pytest.approx(sum(now) / 2 / 1.1)
    assert earlier.row(current)[-1].endswith("*") is apart
    assert earlier.row(comparison(1.0, name="new")) == ["-"] * 4
    assert earlier.left_out([current]) == ["gone: ours / stock"]


def test_one_pair_marks_nothing(tmp_path):
    several, one = comparison(1.0, 1.2), comparison(1.0)
    for then, now in ((several, comparison(2.0)), (one, comparison(2.0, 3.0))):
        assert Earlier.read(report(tmp_path / "earlier.json", then)).change(now)["apart"] is False


def test_the_command_compares_with_an_earlier_call(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("scripts.benchmark.run.measure", lambda *_: [comparison(1.5, 1.6)])
    before, after = report(tmp_path / "before.json", comparison(1.0, 1.2)), tmp_path / "after.json"
    main(["train", "--against", str(before), "--json", str(after)])
    table = capsys.readouterr().out
    assert "now / earlier" in table and "1.409*" in table and "earlier: a machine" in table
    assert json.loads(after.read_text())["comparisons"][0]["earlier"]["apart"] is True
    main(["train", "--against", str(after)])
    assert "1.000\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "entry, expected",
    [
        ({}, "'comparisons'"),
        ({"comparisons": [{}]}, "measurement 1: expected the key 'name'"),
        ({"comparisons": [{"name": "a", "ways": ["b"], "ratio": {}}]}, "two ways"),
        (
            {"comparisons": [{"name": "a", "ways": ["b", "c"], "ratio": {"median": 1}}]},
            "expected the key 'min'",
        ),
        (
            {"comparisons": [{"name": "a", "ways": ["b", "c"], "ratio": {"median": 0, "min": 0, "max": 0}}]},
            "0 < min",
        ),
        (
            {"comparisons": [{"name": "a", "ways": ["b", "c"], "ratio": dict.fromkeys(RATIO, 5e-324)}]},
            "0 < min",
        ),
        ({f"key {number}": 1 for number in range(1000)}, "'key 18', ..."),
    ],
)
def test_what_is_no_report_is_refused_before_anything_is_measured(entry, expected, tmp_path, capsys):
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"machine": "", **entry}), encoding="utf-8")
    code, error = main(["train", "--against", str(path)]), capsys.readouterr().err
    assert code == 2 and len(error.splitlines()) == 1 and expected in error


def test_an_empty_name_is_no_earlier_call(capsys):
    """As of a variable that nobody has set."""
    assert main(["train", "--against", ""]) == 2 and len(capsys.readouterr().err.splitlines()) == 1


def test_a_name_of_a_machine_stays_in_its_line(tmp_path):
    path = report(tmp_path / "earlier.json", comparison(1.0))
    path.write_text(path.read_text().replace("a machine", r"a\n\u001b[31mmachine"), encoding="utf-8")
    assert Earlier.read(path).machine == "a[31mmachine"
