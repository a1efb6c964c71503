"""Scores by source length against sacrebleu on each bucket alone."""

import csv
import json

import numpy as np
import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from ctxmt_fairseq.cli.main import main
from tests.helpers.synthetic import random_texts

REFERENCE, FIRST, SECOND = random_texts(120)
SOURCE = [" ".join("w" for _ in line.split()) for line in REFERENCE]
EDGES = (5, 10, 20, 100)


@pytest.fixture
def files(tmp_path):
    texts = {"src": SOURCE, "ref": REFERENCE, "a": FIRST, "b": SECOND}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def run(files, *options):
    names = [str(files / name) for name in ("src", "ref", "a", "b")]
    return main(["analyse", "lengths", *names, "--edges", *map(str, EDGES), *map(str, options)])


def chosen(lines, least, most):
    return [line for line, source in zip(lines, SOURCE, strict=True) if least <= len(source.split()) <= most]


@pytest.mark.parametrize(("metric", "score"), [("bleu", corpus_bleu), ("chrf2", corpus_chrf)])
def test_every_bucket_has_its_own_corpus_score(files, capsys, metric, score):
    assert run(files, "--metric", metric, "--json", files / "json", "--output", files / "curve.png") == 0
    records = json.loads((files / "json").read_text())["buckets"]
    assert [(record["least"], record["most"]) for record in records[::2]] == [
        (0, 5),
        (6, 10),
        (11, 20),
        (21, 100),
    ]
    assert sum(record["sentences"] for record in records[::2]) == len(SOURCE)
    for record in records:
        system = FIRST if record["system"].endswith("/a") else SECOND
        bounds = record["least"], record["most"]
        expected = score(chosen(system, *bounds), [chosen(REFERENCE, *bounds)]).score
        assert record["score"] == pytest.approx(expected)
        assert record["low"] < record["score"] < record["high"]
    printed = capsys.readouterr().out
    assert "> 100" in printed and f"{records[0]['score']:.2f} (" in printed
    (first, *_) = csv.DictReader((files / "curve.csv").open())
    assert float(first["score"]) == records[0]["score"] and first["system"] == records[0]["system"]
    assert (files / "curve.png").read_bytes()[:4] == b"\x89PNG"


def test_characters_count_where_there_are_no_blanks(files):
    lengths = [1 + number % 12 for number in range(len(SOURCE))]
    (files / "src").write_text("".join("猫" * length + "\n" for length in lengths))
    assert run(files, "--json", files / "json") == 0
    records = json.loads((files / "json").read_text())["buckets"]
    expected = [sum(low <= length <= high for length in lengths) for low, high in ((0, 5), (6, 10), (11, 20))]
    assert [record["sentences"] for record in records[:6:2]] == expected


def test_a_sentence_alone_has_no_band(files, capsys):
    (files / "src").write_text("w w\n" * (len(SOURCE) - 1) + "w " * 15 + "\n")
    assert run(files, "--json", files / "json", "--output", files / "curve.png") == 0
    buckets = json.loads((files / "json").read_text())["buckets"]
    record = next(each for each in buckets if each["least"] == 11)
    assert record["sentences"] == 1 and record["low"] is record["high"] is None
    (row,) = (row.split() for row in capsys.readouterr().out.splitlines() if "11-20" in row)
    assert row[:3] == ["11-20", "1", f"{record['score']:.2f}"] and len(row) == 4


def test_bands_are_percentiles_of_resampled_sentences(files):
    assert run(files, "--samples", 4000, "--json", files / "json") == 0
    record = json.loads((files / "json").read_text())["buckets"][4]  # of the first system, 11 to 20 words
    system, reference = chosen(FIRST, 11, 20), chosen(REFERENCE, 11, 20)
    draws = np.random.default_rng(7).integers(0, len(system), (400, len(system)))
    scores = [corpus_bleu([system[i] for i in row], [[reference[i] for i in row]]).score for row in draws]
    low, high = np.percentile(scores, [2.5, 97.5])
    assert record["low"] == pytest.approx(low, abs=1) and record["high"] == pytest.approx(high, abs=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--edges", "10", "5"), "--edges: expected ascending lengths"),
        (("--edges", "0"), "argument --edges"),
        (("--metric", "comet"), "'comet' (choose from 'bleu', 'chrf1', 'chrf2', 'chrf3')"),
        (("--output", "curve.pdf"), "end in .png"),
        (("a",), "give each HYP once"),
    ],
)
def test_refusals(files, refusal, monkeypatch, options, words):
    monkeypatch.chdir(files)
    assert words in refusal(main, ["analyse", "lengths", "src", "ref", "a", *options])
