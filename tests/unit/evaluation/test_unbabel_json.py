"""Scores that Unbabel's comet-score has written, without COMET."""

import json
import sys

import numpy as np
import pytest

from ctxmt_fairseq.cli.main import main

SOURCE, REFERENCE = ["a b", "c", "d e"], ["A B", "C", "D E"]
SYSTEMS = {"one": ["A", "C", "E"], "two": ["A B", "C", "D"]}
SCORES = {"one": [0.25, 0.5, 0.75], "two": [0.5, 0.5, 1.0]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """As comet-score -s src -t old/one old/two -r ref --to_json comet.json leaves them; no COMET here."""
    monkeypatch.setitem(sys.modules, "comet", None)
    monkeypatch.chdir(tmp_path)
    texts = {"src": SOURCE, "ref": REFERENCE, **SYSTEMS}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line} \n" for line in lines))
    (tmp_path / "current").write_text("1\n0\n1\n")
    write(tmp_path)
    return tmp_path


def write(folder, **changes):
    content = {}
    for name, lines in SYSTEMS.items():
        rows = zip(SOURCE, lines, REFERENCE, SCORES[name], strict=True)
        content[f"old/{name}"] = [
            {"src": src, "mt": mt, "ref": ref, "COMET": score, **changes} for src, mt, ref, score in rows
        ]
    (folder / "comet.json").write_text(json.dumps(content, ensure_ascii=False, indent=4))
    return content


def test_scores_of_a_translation(files):
    options = ("--comet-json", "comet.json", "--source", "src", "--json", "out.json")
    assert main(["score", "two", "ref", *options]) == 0
    written = json.loads((files / "out.json").read_text())
    assert written["comet"][0]["segments"] == SCORES["two"]
    assert main(["score", "two", *options, "--current", "current"]) == 0  # without reference
    (known,) = json.loads((files / "out.json").read_text())["comet"]
    assert known["segments"] == [0.5, 1.0] and known["score"] == 0.75 and known["references"]
    assert known["signature"].startswith("comet-score:comet.json|content:")


def test_systems_are_compared(files):
    options = ("--comet-json", "comet.json", "--source", "src", "--metric", "comet", "--samples", "200")
    assert main(["compare", "translations", "ref", "one", "two", *options, "--json", "out.json"]) == 0
    (found,) = json.loads((files / "out.json").read_text())["comparisons"]
    assert np.isclose(found["score_a"], np.mean(SCORES["one"]))
    assert np.isclose(found["difference"], np.mean(SCORES["two"]) - np.mean(SCORES["one"]))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"mt": "other"}, "comet.json: has no scores of one with this source and reference"),
        ({"src": "other"}, "comet.json: has no scores of one"),
        ({"ref": "other"}, "comet.json: has no scores of one"),
        ({"COMET": None}, "comet.json: old/one: expected a number at the key 'COMET'"),
        ({"COMET": "1"}, "comet.json: old/one: expected a number at the key 'COMET'"),
        ({"mt": 1}, "comet.json: old/one: expected a string at the key 'mt'"),
    ],
)
def test_other_scores_are_refused(files, refusal, changes, message):
    write(files, **changes)
    assert message in refusal(main, ["score", "one", "ref", "--comet-json", "comet.json", "--source", "src"])


def test_no_line_that_counts_is_refused(files, refusal):
    (files / "none").write_text("0\n0\n0\n")
    assert (
        refusal(main, ["score", "one", "--comet-json", "comet.json", "--source", "src", "--current", "none"])
        == "ctxmt: error: none: expected at least one line marked 1, found none"
    )


@pytest.mark.parametrize("content", [[], {}, {"one": []}, {"one": [1]}, {"one": {}}, 3])
def test_other_files_are_refused(files, refusal, content):
    (files / "comet.json").write_text(json.dumps(content))
    line = refusal(main, ["score", "one", "ref", "--comet-json", "comet.json", "--source", "src"])
    assert line.startswith("ctxmt: error: comet.json: ")
