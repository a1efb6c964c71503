"""``ctxmt analyse runs`` and ``lenpen``: means and deviations against NumPy, and what is refused."""

import csv
import json

import numpy as np
import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.whole_runs.results import TranslationName, suite_name
from tests.unit.result_files import contrast, results, translation, write_results

REAL, RANDOM, NULL = (35.36, 36.0, 34.1), (34.85, 35.9, 33.0), (35.35, 36.1, 30.0)


@pytest.fixture
def runs(tmp_path):
    """Three runs of a system, and one of another."""
    paths = []
    for seed, (real, random, null) in enumerate(zip(REAL, RANDOM, NULL, strict=True)):
        names = {"prefix": real, "prefix.random": random, "prefix.empty": null, "prefix.w1": 9.0}
        names[f"prefix.n{seed + 0.5}"] = real + 1
        content = results(names, {"set": contrast(50.0 + seed, 60.0 + seed), "set.w1": contrast(1.0)})
        paths.append(f"CE={write_results(tmp_path / str(seed), content).parent}")
    other = write_results(tmp_path / "other", results({"prefix": 20.0}))
    return [*paths, str(other)]


def analyse(*arguments):
    return main(["analyse", *map(str, arguments)])


def deviation(values):
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"


def test_mean_deviation_and_real_minus_random(runs, tmp_path, capsys):
    assert not analyse("runs", *runs, "--json", tmp_path / "j", "--output", tmp_path / "bars.png")
    printed = capsys.readouterr().out
    lines = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in printed.splitlines()]
    head = ["runs", "n", "bleu, real", "bleu, random", "bleu, empty", "bleu, real - random", "set, Disc.",
            "set, accuracy"]  # fmt: skip
    assert lines[0] == head
    difference = np.subtract(REAL, RANDOM)
    expected = [deviation(values) for values in (REAL, RANDOM, NULL, difference, (60.0, 61.0, 62.0))]
    assert lines[2] == ["CE", "3", "-", *expected, "-"]
    assert lines[3] == ["CE, windows of 1", "3", "-", "9.00 ± 0.00", "-", "-", "-", "-", "1.00 ± 0.00"]
    searched = deviation(np.add(REAL, 1))
    assert lines[4] == [
        "CE, n opt",
        "3",
        "1.50 ± 1.00",
        searched,
        "-",
        "-",
        "-",
        deviation((60.0, 61.0, 62.0)),
        "-",
    ]
    assert lines[5] == ["other", "1", "-", "20.00", *["-"] * 5]
    records = json.loads((tmp_path / "j").read_text())["rows"]
    (found,) = [one for one in records if (one["system"], one["context"]) == ("CE", "real - random")]
    assert found["values"] == pytest.approx(difference) and found["mean"] == pytest.approx(difference.mean())
    bars = list(csv.DictReader((tmp_path / "bars.csv").open()))
    random = [bar for bar in bars if (bar["bar"], bar["system"]) == ("random context", "CE")]
    assert [float(random[0][key]) for key in ("value", "low", "high")] == pytest.approx(
        [np.mean(RANDOM), min(RANDOM), max(RANDOM)]
    )
    assert (tmp_path / "bars.png").read_bytes()[:4] == b"\x89PNG"


def test_files_of_single_commands(tmp_path, capsys):
    contents = {
        "score": translation(30.0),
        "contrast": [contrast(50.0), {**contrast(70.0), "name": "other"}],
        "probe": {"sentences": 10, "contexts": [
            {"context": "document", "bleu": 31.5}, {"context": "random", "bleu": 31}, {"context": "absent"},
        ]},
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    assert not analyse("runs", *(f"A={tmp_path / name}" for name in contents), "--json", tmp_path / "j")
    rows = {
        (one["measure"], one["context"]): one["values"]
        for one in json.loads((tmp_path / "j").read_text())["rows"]
    }
    assert rows == {
        ("bleu", "real"): [30.0, 31.5], ("bleu", "random"): [31.0], ("bleu", "real - random"): [0.5],
        ("set, accuracy", ""): [50.0], ("other, accuracy", ""): [70.0],
    }  # fmt: skip
    assert "31.00 (1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            results({"prefix.n1": 1.0, "prefix.n2": 2.0}),
            "expected one bleu of bad.json, n opt, real, found several",
        ),
        ({"translations": {"prefix": translation(1.0, 11)}, "contrast": {}}, "bleu of 10 lines, found 11"),
        ([3], "expected what ctxmt evaluate, score, contrast or probe wrote"),
        ({"scores": [{"name": 1}], "sentences": 10}, "a string at the key 'name'"),
    ],
)
def test_other_files_are_refused(runs, tmp_path, capsys, content, words):
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(SystemExit) as ended:
        analyse("runs", *runs, tmp_path / "bad.json")
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_nothing_to_show_is_refused(tmp_path, capsys):
    path = write_results(tmp_path, results({"mine": 1.0}))
    with pytest.raises(SystemExit):
        analyse("runs", path, "--metrics", "comet")
    assert "expected translations with comet, found none" in capsys.readouterr().err


def test_a_metric_that_no_run_has_and_a_run_that_is_there_twice_are_refused(runs, capsys):
    for arguments, words in (
        ((*runs, "--metrics", "bleu", "chrf4"), "expected translations with chrf4, found none"),
        ((*runs, runs[1]), "expected each run of CE once"),
    ):
        with pytest.raises(SystemExit):
            analyse("runs", *arguments)
        assert words in capsys.readouterr().err


def test_names_that_evaluate_gives():
    assert TranslationName.of("prefix") == ("prefix", None, None, "trained")
    assert TranslationName.of("window.w3.n0.9.random") == ("window", 3, 0.9, "random")
    assert TranslationName.of("prefix.n-1e-05") == ("prefix", None, -1e-05, "trained")
    assert TranslationName.of("prefix.n1.absent") == ("prefix", None, 1.0, "absent")
    assert TranslationName.of("dev.prefix/n1") is None
    assert suite_name("a.w1.w2") == ("a.w1", 2) and suite_name("lex.word") == ("lex.word", None)


def test_length_penalties(tmp_path, capsys):
    curves = {"a": {0.4: 30.0, 0.5: 31.0, 2: 31.0}, "b": {0.4: 32.0, 0.5: 31.5}, "c": {0.4: 10.0, 1: 12.5}}
    for name, curve in curves.items():
        folder = tmp_path / name / "evaluation" / "dev.prefix"
        folder.mkdir(parents=True)
        for penalty, bleu in curve.items():
            (folder / f"n{penalty:g}.score.json").write_text(json.dumps(translation(bleu)))
    systems = [f"S={tmp_path / 'a'}", f"S={tmp_path / 'b' / 'evaluation'}", tmp_path / "c"]
    assert not analyse("lenpen", *systems, "--json", tmp_path / "j", "--output", tmp_path / "n.png")
    printed = capsys.readouterr().out
    lines = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in printed.splitlines()]
    assert lines[2:6] == [["0.4", deviation((30, 32)), "10.00"], ["0.5", deviation((31, 31.5)), "-"],
                          ["1", "-", "12.50"], ["2", "31.00", "-"]]  # fmt: skip
    assert "best of each run: S: 0.5, 0.4; c: 1" in printed
    record = json.loads((tmp_path / "j").read_text())
    assert record["best"] == {"S": [0.5, 0.4], "c": [1.0]}
    assert [point["value"] for point in record["points"]] == [31.0, 31.25, 31.0, 10.0, 12.5]
    assert (tmp_path / "n.csv").exists() and (tmp_path / "n.png").stat().st_size > 5000
    for options, words in (
        (["--metric", "chrf1"], "expected chrf1, found bleu, chrf2"),
        (["--decoding", "window"], "expected scores n*.score.json"),
    ):
        with pytest.raises(SystemExit):
            analyse("lenpen", *systems, *options)
        assert words in capsys.readouterr().err
    (tmp_path / "c" / "evaluation" / "dev.prefix" / "n3.score.json").write_text(
        json.dumps(translation(1.0, 11))
    )
    with pytest.raises(SystemExit):
        analyse("lenpen", *systems)
    assert "expected bleu of 10 lines, found 11" in capsys.readouterr().err
