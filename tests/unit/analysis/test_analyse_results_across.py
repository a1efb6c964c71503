"""``ctxmt analyse results`` across windows and length penalties."""

import json

import pytest

from ctxmt_fairseq.analysis.value_tables import Placed, best_places
from ctxmt_fairseq.evaluation.significance.seeds import TWO_RUNS
from tests.helpers.result_files import contrast, probed, results, translation, write_results
from tests.helpers.shown_results import analyse, cells, shown, spread

# ---- across windows ----------------------------------------------------------------------------------


def by_window(trained, bleu, accuracy):
    """As ctxmt evaluate; numbers by window size."""
    tags = {size: "" if size == trained else f".w{size}" for size in (*bleu, *accuracy)}
    translations = {f"prefix{tags[size]}.n0.6": score for size, score in bleu.items()}
    contrasts = {f"set{tags[size]}": contrast(3.0, score) for size, score in accuracy.items()}
    return results({**translations, "prefix.n0.6.random": 1.0}, contrasts, trained)


@pytest.fixture
def windows(tmp_path):
    contents = {
        "plain": by_window(2, {1: 20.0, 2: 30.0, 3: 21.0}, {2: 70.0, 3: 65.5}),
        "again": by_window(2, {1: 22.0, 2: 31.0, 3: 20.0}, {2: 72.0, 3: 64.5}),
        "other": by_window(3, {2: 30.5, 3: 32.0}, {}),
    }
    for name, content in contents.items():
        write_results(tmp_path / name, content)
    sizes = {"document": 12.0, "random": 3.0}, {0: 10.0, 2: 12.0}
    (tmp_path / "probe.json").write_text(json.dumps(probed(*sizes, source_context=2)))
    return tmp_path


ACROSS = ("--across", "window", "--only", "context=real")


def test_scores_by_window_and_their_difference_from_the_trained(windows, capsys):
    systems = [f"A={windows / 'plain'}", f"A={windows / 'again' / 'evaluation'}", windows / "other",
               f"P={windows / 'probe.json'}"]  # fmt: skip
    outputs = ("--json", windows / "j", "--output", windows / "windows.png")
    found, _ = shown(capsys, *systems, *ACROSS, "--against", "trained", "--metrics", "bleu", "set", *outputs)
    bleu = found["bleu, n = 10"]
    assert bleu["A, trained 2, n opt (2 runs)"] == {
        "1": spread((20, 22)), "2": "30.50 ± 0.71", "3": "20.50 ± 0.71",
        "1 - trained": spread((-10, -9), "+"), "2 - trained": "-", "3 - trained": spread((-9, -11), "+"),
    }  # fmt: skip
    assert bleu["other, trained 3, n opt"] == {
        "1": "-", "2": "30.50", "3": "32.00", "1 - trained": "-", "2 - trained": "-1.50", "3 - trained": "-",
    }  # fmt: skip
    assert bleu["P, trained 3"] == {
        "1": "10.00", "2": "-", "3": "12.00", "1 - trained": "-2.00", "2 - trained": "-", "3 - trained": "-",
    }  # fmt: skip
    assert found["set, Disc., n = 4"] == {
        "A, trained 2 (2 runs)": {
            "2": "71.00 ± 1.41",
            "3": "65.00 ± 0.71",
            "3 - trained": spread((-4.5, -7.5), "+"),
        }
    }
    points = json.loads((windows / "j").read_text())["points"]
    drawn = [tuple(point.values())[3:] for point in points if point["system"] == "A, trained 2, n opt"]
    assert drawn[:2] == [(21.0, 20.0, 22.0), (30.5, 30.0, 31.0)]
    assert (windows / "windows.png").read_bytes()[:4] == b"\x89PNG" and (windows / "windows.csv").exists()
    again, _ = shown(capsys, *systems, *ACROSS, "--against", "2")
    assert again["bleu, n = 10"]["other, trained 3, n opt"]["3 - 2"] == "+1.50"


def test_a_wide_table_is_turned(windows, capsys):
    systems = [f"A={windows / 'plain'}", f"A={windows / 'again'}", windows / "other"]
    assert not analyse(*systems, *ACROSS, "--against", "trained", "--metrics", "bleu")
    printed = capsys.readouterr().out.splitlines()
    rows = list(map(cells, printed[: printed.index("mean ± standard deviation of the runs") + 1]))
    assert TWO_RUNS in printed[-1] and rows[0] == [
        "bleu, n = 10",
        "A, trained 2, n opt (2 runs)",
        "other, trained 3, n opt",
    ]
    assert rows[3] == ["2", "30.50 ± 0.71", "30.50"] and rows[-3] == [
        "3 - trained",
        spread((-9, -11), "+"),
        "-",
    ]


def test_another_metric_as_lines(windows, capsys):
    found, _ = shown(
        capsys, windows / "other", *ACROSS, "--metrics", "chrf2", "--lines", "--output", windows / "l.png"
    )
    assert found == {"chrf2, n = 10": {"other, trained 3, n opt": {"2": "50.50", "3": "52.00"}}}


def test_two_decodings_are_told_apart(windows, capsys):
    path = windows / "other" / "evaluation" / "results.json"
    record = json.loads(path.read_text())
    record["translations"]["window"] = translation(12.5)
    path.write_text(json.dumps(record))
    found, _ = shown(capsys, path, *ACROSS, "--metrics", "bleu")
    assert set(found["bleu, n = 10"]) == {"other, trained 3, n opt", "other, trained 3, decoding window"}
    found, _ = shown(capsys, path, *ACROSS, "decoding=window")
    assert found["bleu, n = 10"] == {"other, trained 3, decoding window": {"3": "12.50"}}
    found, _ = shown(
        capsys, path, "--across", "decoding", "--only", "window=trained", "context=real", "--metrics", "bleu"
    )
    assert found["bleu, n = 10"] == {
        "other, n opt": {"prefix": "32.00", "window": "-"}, "other": {"prefix": "-", "window": "12.50"},
    }  # fmt: skip


def test_a_window_that_is_not_known_is_the_trained(windows, capsys):
    path = windows / "plain" / "evaluation" / "results.json"
    record = json.loads(path.read_text())
    del record["trained_window"]
    path.write_text(json.dumps(record))
    found, _ = shown(capsys, path, *ACROSS, "--metrics", "bleu", "--against", "trained")
    assert found["bleu, n = 10"] == {
        "plain, n opt": {
            "1": "20.00",
            "3": "21.00",
            "trained": "30.00",
            "1 - trained": "-10.00",
            "3 - trained": "-9.00",
        }
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda record: record["translations"].update({"prefix.w3.n2": translation(9.0)}),
            "expected one bleu of context real, window 3, trained 2, decoding prefix, n opt, found several",
        ),
        (
            lambda record: record["translations"].update({"prefix.w4": translation(1.0, 11)}),
            "expected bleu of 10 lines, as in the other runs, found 11",
        ),
        (lambda record: record.update(translations={}, contrast={}), "found no value"),
        (lambda record: record.update(trained_window=1), "expected one bleu of context real, window trained"),
        (lambda record: record.update(trained_window="2"), "a whole number at the key 'trained_window'"),
    ],
)  # fmt: skip
def test_damaged_results_are_refused(refusal, windows, change, words):
    path = windows / "plain" / "evaluation" / "results.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    assert words in refusal(analyse, windows / "plain", *ACROSS)


def test_systems_of_different_texts_are_not_compared(windows, refusal):
    (windows / "probe.json").write_text(json.dumps(probed({}, {2: 1.0}, sentences=12)))
    assert "expected bleu of 10 lines, as in the other runs, found 12" in refusal(
        analyse, windows / "plain", windows / "probe.json", *ACROSS
    )
    for name in ("one", "other"):
        (windows / f"{name}.json").write_text(json.dumps({**probed({}, {2: 1.0}), "content": name}))
    files = [windows / "plain", *(f"{name}={windows / name}.json" for name in ("one", "other"))]
    wanted = "other.json: expected bleu of the text of the other runs, found another"
    assert wanted in refusal(analyse, *files, *ACROSS)


def test_what_was_measured_otherwise_is_not_compared(windows, capsys, refusal):
    def scored(name, signature):
        record = translation(1.0)
        record["scores"][0]["signature"] = signature
        path = windows / f"{name}.json"
        path.write_text(json.dumps(record))
        return f"{name}={path}"

    files = [scored(name, f"tok:{name}|version:2.{name}") for name in ("13a", "char")]
    expected = "char.json: expected bleu by tok:13a, as in the other runs, found it by tok:char"
    assert expected in refusal(analyse, *files, "--across", "system")
    assert shown(capsys, *files, "--across", "system", "--metrics", "chrf2")
    assert shown(capsys, files[0], scored("again", "tok:13a|bs:9|version:3"), "--across", "system")
    probes = []
    for against in ("absent", "empty"):
        probes.append(windows / f"{against}.json")
        probes[-1].write_text(json.dumps({**probed({"random": 1.0}, {}), "against": against}))
    metrics = ("--metrics", "cxmi, bits per word")
    assert "found it by context against empty" in refusal(analyse, *probes, *metrics)
    sets = []
    for convention in ("sum-current", "mean-window"):
        sets.append(windows / f"{convention}.json")
        sets[-1].write_text(json.dumps({**contrast(50.0), "convention": convention}))
    assert "by sum-current, as in the other runs, found it by mean-window" in refusal(analyse, *sets)


def test_contexts_that_names_do_not_tell_apart_are_told_apart(windows, capsys):
    own, given = windows / "own.json", windows / "given.json"
    record = results({"prefix": 1.0, "prefix.random": 2.0})
    own.write_text(json.dumps(record))
    given.write_text(json.dumps({**record, "target_context_from": "reference", "random_context": "shuffled"}))
    found, _ = shown(capsys, f"a={own}", f"b={given}", "--metrics", "bleu")
    (table,) = found.values()
    assert table["a"] == {"real": "1.00", "random": "2.00", "shuffled": "-"}
    assert table["b, target_context_from reference"] == {"real": "1.00", "random": "-", "shuffled": "2.00"}


# ---- across length penalties -------------------------------------------------------------------------


def test_length_penalties_and_the_best_of_each_run(tmp_path, capsys, refusal):
    curves = {"a": {0.4: 30.0, 0.5: 31.0, 2: 31.0}, "b": {0.4: 32.0, 0.5: 31.5}, "c": {0.4: 10.0, 1: 12.5}}
    for name, curve in curves.items():
        folder = tmp_path / name / "evaluation" / "dev.prefix"
        folder.mkdir(parents=True)
        for penalty, bleu in curve.items():
            (folder / f"n{penalty:g}.score.json").write_text(json.dumps(translation(bleu)))
    write_results(tmp_path / "c", results({"prefix.n1": 13.0}))
    systems = [f"S={tmp_path / 'a'}", f"S={tmp_path / 'b' / 'evaluation'}", tmp_path / "c"]
    outputs = ("--json", tmp_path / "j", "--output", tmp_path / "n.png")
    found, rest = shown(capsys, *systems, "--across", "penalty", "--metrics", "bleu", *outputs)
    assert found == {
        "bleu, dev, n = 10": {
            "S (2 runs)": {"0.4": spread((30, 32)), "0.5": spread((31, 31.5)), "1": "-", "2": "31.00 (1)"},
            "c": {"0.4": "10.00", "0.5": "-", "1": "12.50", "2": "-"},
        }
    }
    assert rest[1] == "best bleu, dev, n = 10 of each run: S: 0.5, 0.4; c: 1"
    record = json.loads((tmp_path / "j").read_text())
    assert record["best"] == {"bleu, dev, n = 10": {"S": [0.5, 0.4], "c": [1.0]}}
    assert [point["value"] for point in record["points"]] == [31.0, 31.25, 31.0, 10.0, 12.5]
    assert (tmp_path / "n.csv").exists() and (tmp_path / "n.png").stat().st_size > 5000
    across = ("--across", "penalty")
    assert "--metrics chrf1: expected one of bleu, dev; chrf2, dev" in refusal(
        analyse, *systems, *across, "--metrics", "chrf1"
    )
    assert "a: expected results across penalty" in refusal(
        analyse, *systems, *across, "--only", "decoding=window"
    )
    assert (
        "a: expected results across context, found those across system, window, decoding, penalty"
        in refusal(analyse, *systems)
    )
    scores = tmp_path / "c" / "evaluation" / "dev.prefix" / "n3.score.json"
    scores.write_text(json.dumps(translation(1.0, 11)))
    assert "expected bleu, dev of 10 lines, as in the other runs, found 11" in refusal(
        analyse, *systems, *across
    )


def test_of_errors_the_fewest_are_the_best():
    found = [
        Placed(measure, "S", place, value, "run", None)
        for measure, values in (("bleu, dev", (20.0, 25.0)), ("ter, dev", (60.0, 50.0)))
        for place, value in zip((0.4, 1.0), values, strict=True)
    ]
    assert best_places(found) == {"bleu, dev": {"S": [1.0]}, "ter, dev": {"S": [1.0]}}


def test_penalties_of_other_windows_and_decodings_are_rows(tmp_path, capsys):
    for name, bleu in {"prefix": 3.0, "prefix.w3": 4.0, "window": 5.0}.items():
        folder = tmp_path / "a" / "evaluation" / f"dev.{name}"
        folder.mkdir(parents=True)
        (folder / "n1.score.json").write_text(json.dumps(translation(bleu)))
        (folder / "n1.hyp").write_text("")
    found, _ = shown(capsys, tmp_path / "a", "--across", "penalty", "--metrics", "bleu, dev")
    assert found["bleu, dev, n = 10"] == {
        "a": {"1": "3.00"}, "a, window 3": {"1": "4.00"}, "a, decoding window": {"1": "5.00"},
    }  # fmt: skip
