"""``ctxmt compare``: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore, contrastive_report, example_lines
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet, Convention
from ctxmt_fairseq.evaluation.contrastive_sets.examples import Candidate, ContrastiveExample
from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast

REFERENCE = ["The boat leaves at noon.", "She paints a red house.", "We walk along the river.", "It rains."]
BETTER = ["The boat leaves at noon.", "She paints a red home.", "We walk along the river.", "It rains now."]
WORSE = ["The ship goes at noon.", "She draws a red home.", "We walk near the river.", "Rain."]


def compare(*arguments):
    return main(["compare", *map(str, arguments)])


def write(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path):
    named = {"ref": REFERENCE, "better": BETTER, "worse": WORSE, "ids": ["a", "a", "b", "b"]}
    return {name: write(tmp_path / name, lines) for name, lines in named.items()}


def examples(path, right, distances=(0, 1, None, 2), phenomena="xxyy"):
    """A system that has the examples right that ``right`` marks with 1; "t" is a tie."""
    suite = ContrastiveSet(
        "set",
        "jsonl",
        tuple(
            ContrastiveExample(
                id=f"{number}", source_before=(), source="s", source_after=(),
                candidates=(Candidate((), "a"), Candidate((), "b")), correct=0, phenomenon=phenomenon,
                distance=distance,
            )
            for number, (phenomenon, distance) in enumerate(zip(phenomena, distances, strict=True))
        ),
        Convention("sum", "current"),
    )  # fmt: skip
    scores = {"1": (2.0, 1.0), "0": (1.0, 2.0), "t": (1.0, 1.0)}
    rows = [[CandidateScore(value, 1, value, 1) for value in scores[mark]] for mark in right]
    assert contrastive_report(suite, rows).chosen["correct"] == right.count("1")
    return write(path, example_lines(suite, rows, suite.convention))


@pytest.mark.parametrize("metrics", [("chrf1", "chrf2"), ("chrf3", "bleu", "chrf1")])
def test_translations_by_several_metrics_of_one_family(files, tmp_path, capsys, metrics):
    texts = (files["ref"], files["worse"], files["better"])
    main(
        [
            "compare",
            "translations",
            *texts,
            "--metric",
            *metrics,
            "--samples",
            "100",
            "--json",
            f"{tmp_path}/json",
        ]
    )
    record = json.loads((tmp_path / "json").read_text())
    assert [row["metric"] for row in record["comparisons"]] == list(record["signatures"]) == list(metrics)
    printed = capsys.readouterr().out
    for row in record["comparisons"]:
        assert f"{row['score_a']:.2f}" in printed and row["difference"] > 0
    assert all(
        f"{name}: {text}" in printed and "nrefs:1" in text for name, text in record["signatures"].items()
    )


def test_contrast(tmp_path, capsys):
    first, second = examples(tmp_path / "a", "10t0"), examples(tmp_path / "b", "0111")
    main(["compare", "contrast", first, second, "--json", str(tmp_path / "json")])
    written = json.loads((tmp_path / "json").read_text())
    records = written["comparisons"]
    assert written["files"] == {"a": first, "b": second}
    assert [(r["group"], r["examples"], r["only_a"], r["only_b"]) for r in records] == [
        ("all", 4, 1, 3),
        ("x", 2, 1, 1),
        ("y", 2, 0, 2),
        ("distance 0", 1, 1, 0),
        ("distance 1", 1, 0, 1),
        ("distance 2", 1, 0, 1),
        ("distance unknown", 1, 0, 1),
        ("disc", 2, 0, 2),  # not the one without a distance, nor the one that needs no context
    ]
    assert records[0] == {
        **{"a": "a", "b": "b", "group": "all", "examples": 4, "correct_a": 1, "correct_b": 3},
        **{"only_a": 1, "only_b": 3, "test": "exact", "p": 0.625, "p_holm": 0.625, "stars": ""},
    }
    printed = capsys.readouterr().out
    assert "+50.00" in printed and "disc" in printed


def test_systems_that_were_scored_by_other_conventions_are_told(tmp_path, caplog):
    summed = examples(tmp_path / "sum", "1010")
    mean = write(
        tmp_path / "mean", [x.replace("sum-", "mean-") for x in Path(summed).read_text().splitlines()]
    )
    compare_contrast([("a", summed), ("b", summed)])
    assert not caplog.text
    compare_contrast([("a", summed), ("b", mean)])
    assert f"{mean}: right by mean-current, in {summed} by sum-current" in caplog.text


def test_a_phenomenon_with_the_name_of_another_group_is_a_group_of_its_own(tmp_path):
    names = ("all", "disc", "distance 1", "x")
    runs = [
        (name, examples(tmp_path / name, marks, phenomena=names))
        for name, marks in (("a", "1111"), ("b", "0000"))
    ]
    found = {row.group: row.examples for row in compare_contrast(runs)}
    assert found.pop("all") == 4 and found.pop("disc") == 2 and len(found) == 8
    assert all(found[f"phenomenon {name}"] == 1 for name in names[:3])


def test_contrast_corrects_over_the_systems_of_a_group(tmp_path, capsys):
    marks = ("0" * 40, "1" * 8 + "0" * 32, "1" * 40)
    shape = {"distances": (1,) * 40, "phenomena": "x" * 40}
    systems = [examples(tmp_path / str(number), mark, **shape) for number, mark in enumerate(marks)]
    main(["compare", "contrast", *systems, "--json", str(tmp_path / "json")])
    first, second = json.loads((tmp_path / "json").read_text())["comparisons"][:2]
    assert (first["p"], first["p_holm"]) == (2 / 2**8, 2 / 2**8)
    assert second["p_holm"] == pytest.approx(2 * second["p"]) and second["stars"] == "**"
    main(["compare", "contrast", *systems, "--all-pairs", "--json", str(tmp_path / "json")])
    assert len(json.loads((tmp_path / "json").read_text())["comparisons"]) == 3 * 4


def test_contrast_refuses(tmp_path, refusal):
    good = examples(tmp_path / "good", "1010")
    lines = (tmp_path / "good").read_text().splitlines()
    assert "two or more systems" in refusal(compare, "contrast", good)
    fewer = write(tmp_path / "fewer", lines[:3])
    assert f"{fewer}: expected the examples of {good}, but 3 of set" in refusal(
        compare, "contrast", good, fewer
    )
    assert "3 of set is not in both" in refusal(compare, "contrast", fewer, good)
    twice = write(tmp_path / "twice", [*lines, lines[1]])
    assert f"{twice}:5: the example 1 of set is there twice" in refusal(compare, "contrast", good, twice)
    other = examples(tmp_path / "other", "1010", distances=(0, 1, None, 3))
    assert "another phenomenon or distance" in refusal(compare, "contrast", good, other)
    without = lines[3].replace(json.loads(lines[3])["content"], "")  # of an earlier version
    main(["compare", "contrast", good, write(tmp_path / "before", [*lines[:3], without])])
    anew = write(tmp_path / "anew", [*lines[:3], without.replace('"content": "', '"content": "other')])
    said = f"anew: 3 of set is another example than in {good}"
    assert said in refusal(compare, "contrast", good, anew)
    runs = [f"{name[0]}={write(tmp_path / name, lines[:1])}" for name in ("A1", "A2", "B1", "B2")]
    said = "A1: expected two or more examples for systems with seeds, found one"
    assert said in refusal(compare, "contrast", *runs)
    for bad in ("[]", "{", '{"set": 1}', "[" * 100_000, lines[0].replace('"correct": 0', '"correct": "0"')):
        path = write(tmp_path / "bad", [lines[0], bad])
        assert f"{path}:2: expected " in refusal(compare, "contrast", good, path)
    assert "empty file" in refusal(compare, "contrast", good, write(tmp_path / "empty", []))


def test_translations(files, tmp_path, capsys):
    names = ("translations", files["ref"], files["worse"], files["better"])
    main(
        ["compare", *names, "--metric", "bleu", "chrf3", "--samples", "200", "--json", str(tmp_path / "json")]
    )
    written = json.loads((tmp_path / "json").read_text())
    assert (written["samples"], written["seed"]) == (200, 1)
    bleu, chrf = written["comparisons"]
    assert (bleu["metric"], chrf["metric"], bleu["unit"], bleu["units"]) == ("bleu", "chrf3", "sentence", 4)
    assert bleu["difference"] == pytest.approx(bleu["score_b"] - bleu["score_a"]) and bleu["difference"] > 0
    assert bleu["low"] <= bleu["difference"] <= bleu["high"]
    assert set(bleu) == {
        *("a", "b", "metric", "unit", "units", "score_a", "score_b", "difference", "low", "high", "wins"),
        *("bootstrap_p", "randomization_p", "p_holm", "stars"),
    }
    printed = capsys.readouterr().out
    assert "length ratio" in printed and "200 samples, seed 1" in printed and "nrefs:1" in printed

    main(["compare", *names, "--docids", files["ids"], "--samples", "200", "--json", str(tmp_path / "json")])
    assert [
        (each["unit"], each["units"]) for each in json.loads((tmp_path / "json").read_text())["comparisons"]
    ] == [("document", 2)] * 2


def test_one_file_may_stand_for_two_systems(files, capsys):
    both = (f"A={files['better']}", f"B={files['better']}")
    assert main(["compare", "translations", files["ref"], *both, "--samples", "100"]) == 0
    assert "length ratio: A 1.059, B 1.059" in capsys.readouterr().out


def test_translations_refuses(files, tmp_path, refusal):
    pair = ("translations", files["ref"], files["worse"], files["better"])
    assert "two or more systems" in refusal(compare, *pair[:3])
    assert "needs --docids" in refusal(compare, *pair, "--unit", "document")
    assert "--unit word: expected document or sentence" in refusal(compare, *pair, "--unit", "word")
    assert "--metric ter: expected one of bleu" in refusal(compare, *pair, "--metric", "ter")
    assert "argument --samples: expected a whole number from 100" in refusal(compare, *pair, "--samples", 5)
    short = write(tmp_path / "short", BETTER[:3])
    assert "expected 3 lines" in refusal(compare, *pair[:3], short)


def test_systems_of_lower_cased_text_are_compared_in_lower_case(tmp_path, files, capsys):
    data, text = tmp_path / "data", tmp_path / "text"
    for suffix in ("en", "fr", "docids"):
        write(f"{text}.{suffix}", ["a"] * 3)
    languages = ("--source-lang", "en", "--target-lang", "fr", "--train", str(text), "--out", str(data))
    main(["preprocess", *languages, "--no-subwords", "--lowercase"])
    lower = write(tmp_path / "lower", [line.lower() for line in REFERENCE])
    systems = (
        "compare",
        "translations",
        files["ref"],
        files["worse"],
        lower,
        "--json",
        str(tmp_path / "json"),
    )
    scores = []
    for options in ((), ("--data", str(data))):
        main([*systems, "--samples", "100", *options])
        scores.append(json.loads((tmp_path / "json").read_text())["comparisons"][0]["score_b"])
    assert scores[0] < 90 and scores[1] == pytest.approx(100)
