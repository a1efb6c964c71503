"""``ctxmt analyse results`` across contexts and systems: means, deviations, differences of known numbers."""

import csv
import json

import numpy as np
import pytest
from scipy import stats

from ctxmt_fairseq.evaluation.runs.results_file import TranslationName, suite_name
from ctxmt_fairseq.evaluation.significance.p_values import stars
from ctxmt_fairseq.evaluation.significance.seeds import ONE_RUN, over_seeds
from tests.helpers.result_files import contrast, probed, results, translation, write_results
from tests.helpers.shown_results import analyse, cells, shown, spread

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


def test_mean_deviation_and_real_minus_random(runs, tmp_path, capsys):
    found, rest = shown(
        capsys, *runs, "--against", "random", "--json", tmp_path / "j", "--output", tmp_path / "b.png"
    )
    difference, less = np.subtract(REAL, RANDOM), np.subtract(NULL, RANDOM)
    blank = dict.fromkeys(["random", "empty", "real - random", "empty - random"], "-")
    assert found["bleu, n = 10"] == {
        "CE (3 runs)": {
            "real": spread(REAL), "random": spread(RANDOM), "empty": spread(NULL),
            "real - random": spread(difference, "+"), "empty - random": spread(less, "+"),
        },
        "CE, window 1 (3 runs)": {"real": "9.00 ± 0.00", **blank},
        "CE, n opt (3 runs)": {"real": spread(np.add(REAL, 1)), **blank},
        "other": {"real": "20.00", **blank},
    }  # fmt: skip
    assert found["set, Disc., n = 4"] == {"CE (3 runs)": {"real": spread((60.0, 61.0, 62.0))}}
    assert found["set, accuracy, n = 4"] == {"CE, window 1 (3 runs)": {"real": "1.00 ± 0.00"}}
    assert found["n"] == {"CE, n opt (3 runs)": {"real": "1.50 ± 1.00"}}
    assert rest[0] == "mean ± standard deviation of the runs" and "on these examples" in rest[-1]
    record = json.loads((tmp_path / "j").read_text())
    (row,) = [one for one in record["rows"] if one["system"] == "CE" and one["place"] == "real - random"
              and one["measure"].startswith("bleu")]  # fmt: skip
    assert row["values"] == pytest.approx(difference) and row["mean"] == pytest.approx(difference.mean())
    assert row["deviation"] == pytest.approx(difference.std(ddof=1))
    test = stats.ttest_1samp(difference, 0)
    assert (row["p"], row["seeds"]) == (pytest.approx(test.pvalue), 3) and row["p_holm"] > row["p"]
    assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval()))
    assert cells(rest[3])[:3] == ["bleu, n = 10: CE, real - random", "3", f"{difference.mean():+.2f}"]
    value = record["values"][0]
    assert (value["system"], value["measure"], value["value"], value["lines"]) == ("CE", "bleu", REAL[0], 10)
    assert value["at"] == {
        "context": "real",
        "window": "trained",
        "trained": 2,
        "decoding": "prefix",
        "n": "given",
    }
    bars = [bar for bar in csv.DictReader((tmp_path / "b.csv").open()) if bar["context"] == "random"]
    assert [float(bars[0][key]) for key in ("value", "low", "high")] == pytest.approx(
        [np.mean(RANDOM), min(RANDOM), max(RANDOM)]
    )
    assert not any("-" in bar["context"] for bar in bars)
    assert (tmp_path / "b.png").read_bytes()[:4] == b"\x89PNG"


def test_across_systems_there_is_a_bar_for_each_context(runs, tmp_path, capsys):
    usual = ("--only", "window=trained", "n=given", "--metrics", "bleu", "--output", tmp_path / "b.png")
    found, _ = shown(capsys, *runs, "--across", "system", *usual)
    assert found["bleu, n = 10"] == {
        "context real (3 runs)": {"CE": spread(REAL), "other": "20.00 (1)"},
        "context random (3 runs)": {"CE": spread(RANDOM), "other": "-"},
        "context empty (3 runs)": {"CE": spread(NULL), "other": "-"},
    }
    bars = list(csv.DictReader((tmp_path / "b.csv").open()))
    assert [(bar["series"], bar["system"]) for bar in bars] == [
        ("context real", "CE"), ("context real", "other"), ("context random", "CE"), ("context empty", "CE"),
    ]  # fmt: skip


def test_files_of_single_commands(tmp_path, capsys):
    contents = {
        "score": translation(30.0),
        "contrast": [contrast(50.0), contrast(70.0, name="other")],
        "probe": probed({"document": 31.5, "random": 31}, {}),
    }
    contents["probe"]["contexts"].append({"context": "absent", "cxmi": 0.0})
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    found, _ = shown(
        capsys,
        *(f"A={tmp_path / name}" for name in contents),
        "--against",
        "random",
        "--json",
        tmp_path / "j",
    )
    rows = {
        (one["measure"], one["place"]): one["values"]
        for one in json.loads((tmp_path / "j").read_text())["rows"]
    }
    cxmi = "cxmi, bits per word, n = 10"
    assert rows == {
        ("bleu, n = 10", "real"): [30.0, 31.5], ("bleu, n = 10", "random"): [31.0],
        ("bleu, n = 10", "real - random"): [0.5], ("chrf2, n = 10", "real"): [50.0],
        ("set, accuracy, n = 4", "real"): [50.0], ("other, accuracy, n = 4", "real"): [70.0],
        ("accuracy of 2 sets", "real"): [60.0],
        (cxmi, "real"): [0.315], (cxmi, "random"): [0.31], (cxmi, "absent"): [0.0],
        (cxmi, "real - random"): [pytest.approx(0.005)], (cxmi, "absent - random"): [-0.31],
    }  # fmt: skip
    assert found["bleu, n = 10"]["A (2 runs)"]["random"] == "31.00 (1)"
    assert found[cxmi]["A"]["real - random"] == "+0.0050"


def test_comet_is_shown_of_sentences_and_of_documents(tmp_path, capsys):
    content = translation(30.0)
    content["scores"] += [{"name": "COMET x", "level": level, "score": 0.81256}
                          for level in ("sentence", "document, k=2")]  # fmt: skip
    (tmp_path / "score").write_text(json.dumps(content))
    found, _ = shown(capsys, tmp_path / "score", "--metrics", "comet x")
    assert found == {
        "comet x, n = 10": {"score": {"real": "0.8126"}},
        "comet x, document, k=2, n = 10": {"score": {"real": "0.8126"}},
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (results({"prefix.n1": 1.0, "prefix.n2": 2.0}), "expected one bleu of context real, window trained"),
        ({"translations": {"prefix": translation(1.0, 11)}, "contrast": {}}, "in the other runs, found 11"),
        ([3], "expected what ctxmt evaluate, score, contrast, probe, control or"),
        ({}, "expected what ctxmt evaluate, score, contrast, probe, control or"),
        ({"models": [{}, {}], "differences": []}, "the shares of one model, found 2; give those"),
        (results({"mine": 1.0}), "found no value"),
        ({"scores": [{"name": 1}], "sentences": 10}, "a string at the key 'name'"),
        (results({"prefix": 1.0}, {"../set": contrast(3.0, 1.0)}), "of a contrastive set, found '../set'"),
    ],
)  # fmt: skip
def test_other_files_are_refused(refusal, runs, tmp_path, content, words):
    (tmp_path / "bad.json").write_text(json.dumps(content))
    line = refusal(analyse, *runs, tmp_path / "bad.json")
    assert "bad.json" in line and words in line


def test_what_no_run_has_and_a_run_that_is_there_twice_are_refused(refusal, runs):
    for arguments, words in (
        (
            (*runs, "--metrics", "bleu", "chrf4"),
            "--metrics chrf4: expected one of bleu; chrf2; n; set, Disc.",
        ),
        ((*runs, runs[1]), "give each run of CE once"),
        (
            (*runs, "--across", "examples"),
            "expected results across examples, found those across system, context",
        ),
        ((*runs, "--against", "absent"), "--against absent: expected one of real"),
        ((*runs, "--only", "beam=4"), "--only beam=4: write NAME=VALUE, with a name from context"),
        (
            (*runs, "--only", "context=random"),
            "results.json: expected results across context with context=random",
        ),
    ):
        assert words in refusal(analyse, *arguments)


def test_names_that_evaluate_gives():
    assert TranslationName.of("prefix") == ("prefix", None, None, "trained")
    assert TranslationName.of("window.w3.n0.9.random") == ("window", 3, 0.9, "random")
    assert TranslationName.of("prefix.n-1e-05") == ("prefix", None, -1e-05, "trained")
    assert TranslationName.of("prefix.n1.absent") == ("prefix", None, 1.0, "absent")
    assert TranslationName.of("dev.prefix/n1") is None
    assert TranslationName.of(f"prefix.w{'9' * 5000}") is None
    assert suite_name(f"a.w{'9' * 5000}")[1] is None
    assert suite_name("a.w1.w2") == ("a.w1", 2) and suite_name("lex.word") == ("lex.word", None)


def test_systems_are_compared_over_seeds_and_examples(tmp_path, capsys):
    """Examples that lie beside the results; a seed of the other system is the one at the same place."""
    draw = np.random.default_rng(1)
    right = {name: draw.random((3, 40)) < share for name, share in (("A", 0.5), ("B", 0.9))}
    systems = []
    for name, runs in right.items():
        for seed, run in enumerate(runs):
            share = 100.0 * run.mean()
            path = write_results(tmp_path / f"{name}{seed}", results({}, {"set": contrast(share, None, 40)}))
            lines = (
                {
                    "set": "set",
                    "id": str(n),
                    "phenomenon": "x",
                    "distance": 1,
                    "correct": 0,
                    "chosen": 1 - int(each),
                }
                for n, each in enumerate(run)
            )
            path.with_name("set.examples.jsonl").write_text(
                "".join(f"{json.dumps(line)}\n" for line in lines)
            )
            systems.append(f"{name}={path.parent}")
    how = ("--across", "system", "--against", "A", "--json", tmp_path / "j")
    _, rest = shown(capsys, *systems, *how)
    (row,) = [one for one in json.loads((tmp_path / "j").read_text())["rows"] if one["p"] is not None]
    expected = over_seeds(100.0 * right["A"], 100.0 * right["B"])
    assert (row["mean"], row["low"], row["p"]) == pytest.approx((expected.mean, expected.low, expected.p))
    assert row["method"] == expected.method and row["p_holm"] == row["p"] and row["seeds"] == 3
    assert rest[-1] == expected.method and "B - A" in rest[-2]
    assert not analyse(*systems, *how, "--table", "markdown")
    head, _, first, second, *_ = capsys.readouterr().out.splitlines()
    means = [f"{np.mean(100 * right[name].mean(1)):.2f} ± " for name in "AB"]
    assert head.split(" | ")[0] == "| system" and first.startswith("| A | ") and second.startswith("| B | ")
    assert means[0] in first and means[1] in second
    mark = stars(row["p_holm"])
    assert second.replace("\\", "").endswith(f"{mark} |") and first[-3].isdigit()
    path.with_name("set.examples.jsonl").unlink()  # of one run: over seeds alone
    shown(capsys, *systems, *how)
    (row,) = [one for one in json.loads((tmp_path / "j").read_text())["rows"] if one["p"] is not None]
    alone = stats.ttest_rel(100.0 * right["B"].mean(1), 100.0 * right["A"].mean(1))
    assert row["p"] == pytest.approx(alone.pvalue) and "Student" in row["method"]
    _, rest = shown(capsys, systems[0], systems[3], *how)
    assert rest[-1] == ONE_RUN
