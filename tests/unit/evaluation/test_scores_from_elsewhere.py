"""Candidates that another program scores: they go out whole, and its scores come back as a model's."""

import json

import pytest
import torch

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore, contrastive_report
from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_sets
from ctxmt_fairseq.evaluation.scores_from_elsewhere import read_candidate_scores

SETS = {
    "it": [
        (["He saw it.", "It fell."], 1, [["Il l'a vue.", "Elle tomba."], ["Il l'a vue.", "Il tomba."]], 0)
    ],
    "they": [(["They left.", "Good."], 0, [["Ils partirent."], ["Elles partirent."], ["On partit."]], 2)] * 2,
}


@pytest.fixture
def sets(tmp_path):
    paths = []
    for name, examples in SETS.items():
        records = [
            {"id": str(number), "phenomenon": name, "distance": 1, "context": "source-previous",
             "source": source, "current": current, "targets": targets, "correct": correct,
             "meta": {"speaker": "a woman"}}
            for number, (source, current, targets, correct) in enumerate(examples)
        ]  # fmt: skip
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return paths


@pytest.fixture
def ctxmt(capsys):
    def call(*arguments, code=0):
        try:
            assert main(["contrast", *map(str, arguments)]) == code
        except SystemExit as end:
            assert end.code == code
        return capsys.readouterr()

    return call


def test_each_candidate_is_printed_with_all_that_a_model_may_read(sets, ctxmt):
    lines = [json.loads(line) for line in ctxmt(*sets, "--print-candidates").out.splitlines()]
    assert [(line["set"], line["id"], line["target"]) for line in lines] == [
        ("it", "0", "Elle tomba."),
        ("it", "0", "Il tomba."),
        *[
            ("they", str(n), text)
            for n in (0, 1)
            for text in ("Ils partirent.", "Elles partirent.", "On partit.")
        ],
    ]
    assert lines[0] == {
        "set": "it", "id": "0", "source_before": ["He saw it."], "source": "It fell.", "source_after": [],
        "metadata": {"speaker": "a woman"}, "target_before": ["Il l'a vue."], "target": "Elle tomba.",
    }  # fmt: skip
    assert lines[2]["source_after"] == ["Good."]


def test_scores_count_as_those_of_a_model(sets, ctxmt, tmp_path):
    values = [(-3.0, 3), (-2.0, 1), (-9.0, 3), (-8.0, 4), (-4.5, 3), (-1.0, 1), (-1.0, 1), (-2.0, 4)]
    scores, examples, report = (tmp_path / name for name in ("scores", "examples", "json"))
    scores.write_text("".join(f"{total} {tokens}\n" for total, tokens in values))
    shown = ctxmt(*sets, "--scores", scores, "--examples", examples, "--json", report).out
    assert "it (sum-current)" in shown and "they (sum-current)" in shown
    found = [json.loads(line) for line in examples.read_text().splitlines()]
    assert [(each["chosen"], each["correct"]) for each in found] == [(1, 0), (2, 2), (None, 2)]
    read = read_contrastive_sets(sets)
    rows = [
        [CandidateScore(*value, *value) for value in part] for part in (values[:2], values[2:5], values[5:])
    ]
    assert read_candidate_scores(scores, read) == [rows[:1], rows[1:]]
    for each, expected in zip(json.loads(report.read_text()), (rows[:1], rows[1:]), strict=True):
        own = contrastive_report(next(one for one in read if one.name == each["name"]), expected)
        assert each["conventions"] == json.loads(json.dumps(own.conventions))
    printed = ctxmt(*sets, "--print-candidates").out.splitlines()
    pairs = zip(printed, values, strict=True)
    added = [json.dumps({**json.loads(line), "sum": one[0], "tokens": one[1]}) for line, one in pairs]
    scores.write_text("\n".join(added))
    assert read_candidate_scores(scores, read) == [rows[:1], rows[1:]]
    # by the mean the longer candidate wins: -3/3 against -2/1
    first = (sets[0], "--scores", _first(scores, 2))
    assert "100.00" in ctxmt(*first, "--reduction", "mean").out
    assert "it (sum-window)" in ctxmt(*first, "--span", "window").out


@pytest.mark.parametrize(
    "line", ["", "{}", "-1", "-1 0", "1 2", "nan 2", "-inf 2", "-1 2 3", "-1 2.5", f"-1 1{'0' * 400}"]
)
def test_a_line_that_is_no_score_is_named(sets, ctxmt, tmp_path, line):
    scores = tmp_path / "scores"
    scores.write_text(f"-1 2\n{line}\n")
    error = ctxmt(sets[0], "--scores", scores, code=2).err
    wanted = "the key 'sum'" if line == "{}" else "the sum"
    assert f"{scores}:2: expected {wanted}" in error and error.count("\n") == 1


def test_candidates_in_another_order_are_refused(sets, ctxmt, tmp_path):
    lines = [json.loads(line) for line in ctxmt(*sets, "--print-candidates").out.splitlines()]
    lines[2:5] = lines[4:1:-1]
    scores = tmp_path / "scores"
    scores.write_text("".join(f"{json.dumps({**line, 'sum': -1, 'tokens': 2})}\n" for line in lines))
    error = ctxmt(*sets, "--scores", scores, code=2).err
    assert f"{scores}:3: expected a score of example 0 of they, 'Ils partirent.'" in error


def test_what_is_missing_or_too_much_is_one_line(sets, ctxmt, tmp_path):
    scores = tmp_path / "scores"
    scores.write_text("-1 2\n" * 3)
    assert "expected 2 lines, one for each candidate" in ctxmt(sets[0], "--scores", scores, code=2).err
    none = ctxmt(sets[0], "--print-candidates", "--json", scores.with_name("none.json"), code=2)
    assert "leave out --json and --examples" in none.err
    for both in ((), ("--scores", scores, "--print-candidates")):
        assert "give one of MODEL, --print-candidates and --scores" in ctxmt(sets[0], *both, code=2).err
    for without in (("--print-candidates",), ("--scores", scores)):
        for option in (("--source-context", 0), ("--data", tmp_path), ("--quantization", "int8")):
            error = ctxmt(sets[0], *without, *option, code=2).err
            assert f"leave out {option[0]}: only a MODEL heeds it" in error
        torch.save({}, tmp_path / "model.pt")
        error = ctxmt(tmp_path / "model.pt", sets[0], *without, code=2).err
        assert "model.pt: leave out MODEL: --print-candidates and --scores take sets alone" in error


def _first(path, count):
    shorter = path.with_name("first")
    shorter.write_text("".join(path.read_text().splitlines(keepends=True)[:count]))
    return shorter
