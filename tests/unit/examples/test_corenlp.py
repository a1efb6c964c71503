"""What CoreNLP writes as the files of coreference and annotation: examples/gated_context/corenlp.py."""

import json

import pytest
from gated_context.corenlp import convert_corenlp, main

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.annotation import is_noun, read_annotation
from ctxmt_fairseq.text.coreference import Antecedent, Reference, read_coreference
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.coreference_files import write_lines


def token(text, pos="NN"):
    return {"originalText": text, "pos": pos, "lemma": text.lower(), "index": 1}


def mention(number, first, behind, kind):
    return {"sentNum": number, "startIndex": first, "endIndex": behind, "type": kind}


def corenlp():
    """A document of four lines, of which CoreNLP does not see the empty one."""
    sentences = [
        {"tokens": [token("The", "DT"), token("dog"), token("saw", "VBD"), token("its", "PRP$"),
                    token("tail"), token(".", ".")]},
        {"tokens": [token("It", "PRP"), token("'s", "VBZ"), token("red", "JJ"), token(".", ".")]},
        {"tokens": [token("It", "PRP"), token("ran", "VBD"), token(".", ".")]},
    ]  # fmt: skip
    corefs = {
        "3": [
            mention(1, 1, 3, "NOMINAL"),
            mention(3, 1, 2, "PRONOMINAL"),
            mention(1, 4, 5, "PRONOMINAL"),
            mention(2, 1, 2, "PRONOMINAL"),
        ],
        "4": [mention(1, 4, 6, "NOMINAL")],
    }
    return {"sentences": sentences, "corefs": corefs}


TEXT = ["The dog saw its tail.", "", "It's red.", "It ran.", "Who?"]


def test_what_corenlp_found(tmp_path, capsys):
    write_lines(tmp_path / "text", TEXT)
    write_lines(tmp_path / "ids", "aaaab")
    other = {"sentences": [{"tokens": [token("Who", "WP"), token("?", ".")]}], "corefs": {}}
    for name, content in (("1.json", corenlp()), ("2.json", other)):
        (tmp_path / name).write_text(json.dumps(content))
    assert not main([
        str(tmp_path / "1.json"), str(tmp_path / "2.json"),
        "--text", str(tmp_path / "text"), "--docids", str(tmp_path / "ids"), "--out", str(tmp_path / "out"),
    ])  # fmt: skip
    assert capsys.readouterr().out == "2 pronouns with an antecedent in a line before, 1 of them nominal\n"
    assert read_coreference(tmp_path / "out.coref.jsonl", TEXT) == [
        Reference(2, (0, 2), "it", Antecedent(0, (0, 7), True), "corenlp"),
        Reference(3, (0, 2), "it", Antecedent(2, (0, 2), False), "corenlp"),  # the nearest line
    ]
    words = read_annotation(tmp_path / "out.words.jsonl", TEXT)
    assert [word.text for word in words[0] if is_noun(word)] == ["dog", "tail"] and words[1] == []
    assert (words[2][1].text, words[2][1].start, words[2][1].pos) == ("'s", 2, "VBZ")


def test_corenlp_of_another_text(tmp_path):
    path = tmp_path / "1.json"

    def refused(content, message, lengths=(4,)):
        path.write_text(json.dumps(content))
        with pytest.raises(BadInput, match=message):
            convert_corenlp([path], TEXT[: sum(lengths)], Documents.from_lengths(lengths))

    refused(corenlp(), "expected 2 files", (4, 1))
    refused(corenlp(), "expected 4 sentences, the document's lines, found 3", (5,))
    spoilt = corenlp()
    spoilt["sentences"][1]["tokens"][2]["originalText"] = "blue"
    refused(spoilt, "expected the text of line 3, found 'blue'")
    for bad in (mention(4, 1, 2, "NOMINAL"), mention(2, 1, 9, "NOMINAL"), mention(2, 2, 2, "NOMINAL")):
        spoilt = corenlp()
        spoilt["corefs"]["4"] = [bad]
        refused(spoilt, "expected a mention within the text")
    refused({**corenlp(), "corefs": {"1": 2}}, "expected a list of mentions")


def test_what_cannot_be_written_is_said_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["x", "--text", "t", "--docids", "d", "--out", "missing/out"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ctxmt: error: missing/out.coref.jsonl: cannot be written: no such folder")
