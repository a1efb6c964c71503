"""``ctxmt compare lines``: every differing line, with its own context and sacrebleu's sentence-level chrF."""

import json

import pytest
from sacrebleu import sentence_chrf

from ctxmt_fairseq.cli.main import main

SOURCE = ["one two", "three", "four five", "six", "seven", "eight nine"]
REFERENCE = ["un deux", "trois", "quatre cinq", "Six", "sept", "huit neuf"]
FIRST = ["un deux", "toi", "quatre cinq", "six", "sept", ""]
LAST = ["un deux", "trois", "quatre", "Six", "sept fois", "huit neuf"]
DOCIDS = ["a", "a", "a", "b", "b", "b"]
CURRENT = ["0", "1", "1", "1", "0", "1"]


@pytest.fixture
def files(tmp_path):
    texts = {"src": SOURCE, "ref": REFERENCE, "first": FIRST, "last": LAST, "ids": DOCIDS, "current": CURRENT}
    texts["meta.meta.speaker"] = [f"speaker {number}" for number in range(6)]
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def compare(files, *options, systems=("first", "L=last")):
    parts = [system.rpartition("=") for system in systems]
    named = [f"{name}{equals}{files / path}" for name, equals, path in parts]
    arguments = [files / "src", files / "ref", *named, *options, "--json", files / "j"]
    assert not main(["compare", "lines", *map(str, arguments)])
    return [json.loads(line) for line in (files / "j").read_text().splitlines()]


def test_lines_scores_and_order(files, capsys):
    records = compare(files)
    expected = {}
    for number, (first, last, reference) in enumerate(zip(FIRST, LAST, REFERENCE, strict=True), 1):
        if first != last:
            expected[number] = [sentence_chrf(text, [reference]).score for text in (first, last)]
    order = sorted(expected, key=lambda line: expected[line][0] - expected[line][1])
    assert [record["line"] for record in records] == order and len(order) == 5
    for record in records:
        assert list(record["scores"]) == list(record["hypotheses"]) == ["first", "L"]
        assert list(record["scores"].values()) == pytest.approx(expected[record["line"]])
        assert record["difference"] == pytest.approx(
            expected[record["line"]][1] - expected[record["line"]][0]
        )
        assert record["source"] == SOURCE[record["line"] - 1] and record["context"] == []
        assert list(record["hypotheses"].values()) == [FIRST[record["line"] - 1], LAST[record["line"] - 1]]
    printed = capsys.readouterr().out
    assert printed.startswith(
        "5 of 6 lines differ; chrf2 of L is higher than that of first on 3, lower on 2\n"
    )
    assert printed.count("\nline ") == 5


def test_context_ends_with_its_document(files, capsys):
    options = ("--docids", files / "ids", "--current", files / "current", "--metadata", files / "meta")
    records = {record["line"]: record for record in compare(files, *options)}
    assert set(records) == {2, 3, 4, 6}  # 5 serves as context only
    assert records[3]["context"] == SOURCE[:2] and records[3]["reference_context"] == REFERENCE[:2]
    assert records[4]["context"] == [] and records[6]["context"] == SOURCE[3:5]
    assert records[6]["metadata"] == {"speaker": "speaker 5"}
    assert "  source -2     six\n  reference -2  Six\n  source -1     seven\n" in capsys.readouterr().out
    one = {record["line"]: record["context"] for record in compare(files, *options, "--context", "1")}
    assert one == {2: SOURCE[:1], 3: SOURCE[1:2], 4: [], 6: SOURCE[4:5]}


def test_both_ends_are_printed_once(files, capsys):
    records = compare(files, "--top", "2")
    printed = [
        line.split(":")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("line ")
    ]
    shown = [*records[:2], *records[-2:]]
    assert printed == [f"line {record['line']}" for record in shown]
    compare(files, "--top", "3")
    assert capsys.readouterr().out.count("\nline ") == 5


def test_systems_that_are_alike_have_no_lines(files, capsys):
    assert compare(files, systems=("first", "again=first")) == []
    assert capsys.readouterr().out.startswith("0 of 6 lines differ")
    assert compare(files, "--lowercase", systems=("ref", "L=first"))[-1]["scores"]["ref"] == 100


@pytest.mark.parametrize("systems", [("first",), ("A=first", "A=last")])
def test_two_names_are_wanted(files, refusal, systems):
    assert "give two or more systems of different names" in refusal(compare, files, systems=systems)
