"""``ctxmt analyse curves`` on logs whose numbers are known."""

import csv
import json
import statistics
from xml.etree import ElementTree

import pytest

from ctxmt_fairseq.base.plots.charts import Point, draw_chart
from ctxmt_fairseq.cli.main import main
from tests.helpers.training_logs import write_log


def analyse(*arguments):
    return main(["analyse", *map(str, arguments)])


def rows(text):
    """Cells of a printed table, by the first."""
    lines = [[cell for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines if line}


@pytest.fixture
def logs(tmp_path):
    """A system of two runs and one of another length."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    write_log(tmp_path / "a" / "train.log")
    write_log(tmp_path / "b" / "train.log", "json", losses=(7.0, 6.75), ratios=(1.0, 0.9), devices=2)
    write_log(tmp_path / "c" / "train.log", losses=(9.0,), ratios=(1.0,), parameters=99)
    return tmp_path


def test_table_curves_and_files(logs, capsys):
    assert not analyse("curves", f"x={logs / 'a'}", f"x={logs / 'b' / 'train.log'}", logs / "c",
                       "--json", logs / "j.json", "--output", logs / "curves.png")  # fmt: skip
    printed = rows(capsys.readouterr().out)
    assert printed["c"] == ["1", "99", "0.010", "1", "1", "100", "9.500"]
    hours = [36 / 3600, 2 * 36 / 3600]
    assert printed["x"] == [
        "2", "1,234,567", f"{statistics.mean(hours):.3f} ± {statistics.stdev(hours):.3f}",
        "2.5 ± 0.7", "2.0 ± 0.0", "200.0 ± 0.0", "7.000 ± 0.354",
    ]  # fmt: skip
    points = json.loads((logs / "j.json").read_text())["points"]
    loss = [point for point in points if point["measure"] == "current_loss, valid (bits per token)"]
    assert [(p["system"], p["epoch"], p["value"], p["low"], p["high"]) for p in loss] == [
        ("x", 1, 7.25, 7.0, 7.5), ("x", 2, 6.5, 6.25, 6.75), ("x", 3, 6.5, None, None),
        ("c", 1, 9.0, None, None),
    ]  # fmt: skip
    ratios = [point["value"] for point in points if point["measure"] == "current_context_ratio, valid"]
    assert ratios == pytest.approx([1.1, 1.0, 1.15, 1.0])
    table = list(csv.DictReader((logs / "curves.csv").open()))
    assert [float(row["value"]) for row in table] == [point["value"] for point in points]
    assert (logs / "curves.png").read_bytes()[:4] == b"\x89PNG"


def test_losses_of_several_criterions_are_not_compared_in_silence(tmp_path, capsys):
    discounts = {"a.log": 1, "b.log": 0.25, "c.log": 0.25}
    logs = [write_log(tmp_path / name, discount=discount) for name, discount in discounts.items()]
    analyse("curves", f"a={logs[0]}", f"b={logs[1]}", f"b={logs[2]}")
    said = "loss is not the same measure in all: a: context_discount 1; b: context_discount 0.25"
    assert capsys.readouterr().out.splitlines()[-1] == said
    analyse("curves", *logs[1:])
    assert "not the same measure" not in capsys.readouterr().out
    with_target = {"none": "None", "zero": "0", "one": "1"}
    for name, sentences in with_target.items():
        text = logs[0].read_text().replace("'update_freq'", f"'target_context': {sentences}, 'update_freq'")
        (tmp_path / name).write_text(text)
    analyse("curves", tmp_path / "none", tmp_path / "zero")
    assert "not the same measure" not in capsys.readouterr().out
    analyse("curves", tmp_path / "none", tmp_path / "one")
    assert "measure in all: none: target_context 0; one: target_context 1" in capsys.readouterr().out


def test_by_update_every_validation_counts(logs, tmp_path):
    assert not analyse("curves", logs / "c", "--by", "update", "--metrics", "loss", "--json", tmp_path / "j")
    points = json.loads((tmp_path / "j").read_text())["points"]
    assert [(point["update"], point["value"]) for point in points] == [(50, 10.5), (100, 9.5)]
    assert {point["system"] for point in points} == {"c"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--metrics", "bleu"), "--metrics bleu: expected one of current_context_ratio, current_loss, loss"),
        (("--subset", "dev"), "expected validations with 'dev'"),
        (("--output", "curves.pdf"), "end in .png"),
    ],
)
def test_refusals(logs, refusal, options, words):
    assert words in refusal(analyse, "curves", logs / "a", *options)


def test_epochs_have_whole_numbers_even_where_there_is_one():
    for epochs in ((1,), (1, 2, 3)):
        points = [Point("loss", "s2to2", epoch, 4.0 - epoch) for epoch in epochs]
        drawn = ElementTree.fromstring(draw_chart(points, "epoch", kind="svg"))
        texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
        assert texts[: len(epochs) + 1] == [*map(str, epochs), "epoch"]
