"""``ctxmt probe`` on a trained model with SentencePiece."""

import json

import pytest

from ctxmt_fairseq.cli.main import main
from tests.integration.commands import read


def test_words_of_a_trained_model(s2to2, corpus, tmp_path, capsys):
    """A text with an empty line and one that serves as context only."""
    files = {name: str(tmp_path / name) for name in ("json", "words")}
    main(
        ["probe", str(s2to2 / "checkpoint_last.pt"), str(corpus / "test3"), "--cpu", "--beam", "1"]
        + ["--max-len-b", "20", "--samples", "100", "--contexts", "empty", "absent", "--min-count", "2"]
        + ["--json", files["json"], "--words", files["words"]]
    )
    record = json.loads("".join(read(files["json"])))
    lines = [json.loads(line) for line in read(files["words"])]
    reference = read(corpus / "test3.fr")
    assert [line["line"] for line in lines] == [1, 2, *range(4, 13)]
    assert [line["words"] for line in lines] == [reference[line["line"] - 1].split() for line in lines]
    assert lines[1]["bits"] == [] and lines[1]["sentence_bits"] == lines[1]["end_bits"]
    document, empty, absent = record["contexts"]
    words = sum(len(line["words"]) for line in lines)
    bits = sum(line["sentence_bits"] for line in lines)
    assert record["reference_words"] == words and record["sentences"] == 11
    assert document["cxmi"] == pytest.approx(bits / words, abs=1e-5) and abs(bits) > 0.01
    assert absent["cxmi"] == 0 != empty["cxmi"] and 0 <= absent["bleu"] <= 100
    assert "word (2 times or more)" in capsys.readouterr().out
