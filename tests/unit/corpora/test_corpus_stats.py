"""``ctxmt corpus stats``: counts against those of a few lines of Python."""

import json
import statistics as reference
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora import statistics
from ctxmt_fairseq.corpora.text_rows import TextFiles
from tests.helpers.corpus_files import write_corpus_files

LINES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("abc"), st.sampled_from([0, 1])),
    min_size=1,
)


def words(*lengths):
    return [" ".join(["w"] * length) for length in lengths]


@settings(deadline=None, max_examples=50)
@given(LINES, st.integers(0, 6))
def test_lengths(tmp_path_factory, shapes, most):
    folder = tmp_path_factory.mktemp("stats")
    lines = [(*words(source, target), name, current, {}) for source, target, name, current in shapes]
    files = TextFiles(str(write_corpus_files(folder / "c", lines)), "en", "de")
    spelled = [lambda texts: [" ".join(text.replace(" ", "")) + " x" for text in texts]] * 2
    old, statistics.BATCH = statistics.BATCH, 20
    try:
        measured = statistics.measure(files, spelled)
    finally:
        statistics.BATCH = old
    record = measured.as_dict(["en", "de"], [most])
    runs = [1]
    for first, second in zip(shapes, shapes[1:], strict=False):
        runs = [*runs[:-1], runs[-1] + 1] if first[2] == second[2] else [*runs, 1]
    assert measured.documents == Counter(runs) and record["documents of one sentence"] == runs.count(1)
    assert record["sentences"] == len(lines) and record["documents"] == len(runs)
    assert record["context_only"] == sum(not shape[3] for shape in shapes)
    for place, language in enumerate(("en", "de")):
        lengths = [shape[place] for shape in shapes]
        side = record["sides"][language]
        assert side["words"] == {
            "total": sum(lengths), "mean": np.mean(lengths),
            "median": reference.median_low(lengths), "max": max(lengths),
        }  # fmt: skip
        assert side["subwords"]["total"] == sum(lengths) + len(lengths) and side["empty"] == lengths.count(0)
        assert side["longer"][str(most)] == np.mean([length + 1 > most for length in lengths])
    rows = [line.split("\t") for line in measured.histogram(["en", "de"]).splitlines()]
    assert rows[0] == ["length", "en", "de", "documents"]
    table = np.array(rows[1:], int)
    assert (np.diff(table[:, 0]) > 0).all() and table[:, 1:].sum(0).tolist() == [len(lines)] * 2 + [len(runs)]


def stats(prefix, *options):
    main(["corpus", "stats", str(prefix), "--source-lang", "en", "--target-lang", "de", *map(str, options)])


def test_the_command_and_its_files(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    lines = [
        (*words(number % 30, 2 * (number % 30)), f"d{number // 7}", number % 2, {}) for number in range(200)
    ]
    prefix = write_corpus_files(tmp_path / "c", lines)
    names = {
        option: tmp_path / name
        for option, name in (("json", "o.json"), ("lengths", "o.tsv"), ("plot", "o.png"))
    }
    stats(
        prefix,
        "--longer-than",
        20,
        40,
        *(text for name, path in names.items() for text in (f"--{name}", path)),
    )
    printed = capsys.readouterr().out
    assert "200 sentences (100 of them context only) in 29 documents (0 of one sentence)" in printed
    assert (
        "de: 27.00% of the sentences have more than 40 words" in printed
        and "en: 7 empty sentences" in printed
    )
    assert json.loads(names["json"].read_text())["sides"]["en"]["longer"] == {"20": 0.27, "40": 0.0}
    assert names["lengths"].read_text().splitlines()[1] == "0\t7\t7\t0"
    assert names["plot"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    (tmp_path / "c.docids").unlink()
    stats(prefix)
    assert "200 documents (200 of one sentence)" in capsys.readouterr().out


def test_refusals(tmp_path, refusal):
    prefix = write_corpus_files(tmp_path / "c", [("a", "b", "d", 1, {})])
    (tmp_path / "data").mkdir()
    for options, message in (
        ((prefix, "--data", tmp_path / "data"), "is no data folder of ctxmt preprocess"),
        ((prefix, "--json", tmp_path / "no" / "x"), "no such folder"),
        ((tmp_path / "none",), "none.en: no such file"),
    ):
        assert message in refusal(stats, *options)
