"""``ctxmt analyse windows``: differences from the trained size, from what evaluate and probe write."""

import json
import statistics

import pytest

from ctxmt_fairseq.analysis.system_names import named_paths
from ctxmt_fairseq.cli.main import main
from tests.unit.result_files import contrast, results, translation, write_results


def by_window(trained, bleu, accuracy):
    """As ctxmt evaluate; numbers by window size."""
    tags = {size: "" if size == trained else f".w{size}" for size in (*bleu, *accuracy)}
    translations = {f"prefix{tags[size]}.n0.6": score for size, score in bleu.items()}
    contrasts = {f"set{tags[size]}": contrast(3.0, score) for size, score in accuracy.items()}
    return results({**translations, "prefix.n0.6.random": 1.0}, contrasts, trained)


def probed(sizes):
    entries = [{"size": size - 1, "cxmi": 0.1, "bleu": bleu, "chrf2": 1.0} for size, bleu in sizes.items()]
    options = {"source_context": 2, "target_context": None, "beam": 4}
    return {"sizes": entries, "sentences": 10, "options": options}


@pytest.fixture
def files(tmp_path):
    contents = {
        "plain": by_window(2, {1: 20.0, 2: 30.0, 3: 21.0}, {2: 70.0, 3: 65.5}),
        "again": by_window(2, {1: 22.0, 2: 31.0, 3: 20.0}, {2: 72.0, 3: 64.5}),
        "other": by_window(3, {2: 30.5, 3: 32.0}, {}),
    }
    for name, content in contents.items():
        write_results(tmp_path / name, content)
    (tmp_path / "probe.json").write_text(json.dumps(probed({1: 10.0, 3: 12.0})))
    return tmp_path


def windows(*arguments):
    return main(["analyse", "windows", *map(str, arguments)])


def test_scores_and_differences(files, capsys):
    systems = [f"A={files / 'plain'}", f"A={files / 'again' / 'evaluation'}", files / "other",
               f"P={files / 'probe.json'}"]  # fmt: skip
    assert not windows(*systems, "--json", files / "j", "--output", files / "windows.png")
    lines = [[cell.strip() for cell in line.split("  ") if cell.strip()]
             for line in capsys.readouterr().out.splitlines()]  # fmt: skip
    assert lines[0] == ["system", "trained", "windows of 1", "windows of 2", "windows of 3"]
    deviation = f"{statistics.stdev((20, 22)):.2f}"
    assert lines[2][1:] == ["A", "2", f"21.00 ± {deviation} (-9.50)", "30.50 ± 0.71", "20.50 ± 0.71 (-10.00)"]
    assert lines[3][1:] == ["other", "3", "-", "30.50 (-1.50)", "32.00"]
    assert lines[4] == ["bleu, n = 10", "P", "3", "10.00 (-2.00)", "-", "12.00"]
    assert lines[5] == ["set, Disc., n = 4", "A", "2", "-", "71.00 ± 1.41", "65.00 ± 0.71 (-6.00)"]
    points = json.loads((files / "j").read_text())["points"]
    assert [(p["value"], p["low"], p["high"]) for p in points if p["system"] == "A (trained: 2)"][:2] == [
        (21.0, 20.0, 22.0), (30.5, 30.0, 31.0),
    ]  # fmt: skip
    assert (files / "windows.png").read_bytes()[:4] == b"\x89PNG" and (files / "windows.csv").exists()


def test_another_metric(files, capsys):
    assert not windows(files / "other", "--metric", "chrf2", "--lines")
    assert capsys.readouterr().out.split()[-3:] == ["50.50", "(-1.50)", "52.00"]


def test_two_decodings_must_be_told_apart(files, capsys):
    path = files / "other" / "evaluation" / "results.json"
    record = json.loads(path.read_text())
    record["translations"]["window"] = translation(12.5)
    path.write_text(json.dumps(record))
    with pytest.raises(SystemExit):
        windows(path)
    assert "--decoding: expected one of prefix, window" in capsys.readouterr().err
    assert not windows(path, "--decoding", "window")
    assert "12.50" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record.pop("trained_window"), "and the trained window, found none"),
        (lambda record: record["translations"].update({"prefix.w3": translation(1.0)}), "found several"),
        (
            lambda record: record["translations"].update({"prefix.w4": translation(1.0, 11)}),
            "expected bleu of 10 lines, found 11",
        ),
        (lambda record: record.update(translations={}, contrast={}), "expected translations with bleu"),
        (lambda record: record.update(trained_window=1), "expected one bleu of plain, 1, found several"),
    ],
)
def test_refusals(files, capsys, change, words):
    path = files / "plain" / "evaluation" / "results.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    with pytest.raises(SystemExit) as ended:
        windows(files / "plain")
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_systems_of_different_texts_are_not_compared(files, capsys):
    (files / "probe.json").write_text(json.dumps({**probed({3: 1.0}), "sentences": 12}))
    with pytest.raises(SystemExit):
        windows(files / "plain", files / "probe.json")
    assert "expected bleu of 10 lines, found 12" in capsys.readouterr().err


def test_names_of_systems(tmp_path):
    odd = tmp_path / "s4+CD=0.1"
    odd.mkdir()
    assert named_paths([str(odd)]) == [("s4+CD=0.1", str(odd))]
    assert named_paths([f"s4+CD=1={odd}"]) == [("s4+CD=1", str(odd))]
    assert named_paths([f"s4={odd}", "b=missing"]) == [("s4", str(odd)), ("b", "missing")]
    assert [name for name, _ in named_paths(["r/a/train.log", "r/b/evaluation", "N=x"])] == ["a", "b", "N"]
