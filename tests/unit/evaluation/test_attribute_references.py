"""Attribute sets with references, and those of EAMT 2022 as published: scores against sacrebleu."""

import json
from unittest.mock import Mock

import pytest
from sacrebleu import corpus_bleu, corpus_chrf, corpus_ter

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.control.attributes import Attributes
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import (
    AttributeExample,
    metadata_of,
    read_attribute_set,
    read_eamt22,
)
from ctxmt_fairseq.evaluation.attribute_control.attributes import reference_scores

SET = [
    {"english": "I was there, and you saw me.", "polish": "Byłam tam i pan mnie widział.",
     "context_csv": "<sp:feminine>,<il:masculine>,<singular>,<formal>", "marking": "<formal>"},
    {"english": "You all left the old house early.", "polish": "Wszyscy wyszliście wcześnie ze starego domu.",
     "context_csv": ", <il:mixed> ,<plural>,<informal>", "context_text": "anything"},
]  # fmt: skip
REFERENCES = [record["polish"] for record in SET]
HYPOTHESES = ["Byłam tam i pan mnie zobaczył.", "Wyszliście wcześnie ze starego domu."]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "test.json").write_text(json.dumps(SET))
    (tmp_path / "hyp").write_text("".join(f"{line}\n" for line in HYPOTHESES))
    return tmp_path


def scores(lines):
    found = {"BLEU": corpus_bleu(lines, [REFERENCES]).score, "TER": corpus_ter(lines, [REFERENCES]).score}
    found |= {f"chrF{beta}": corpus_chrf(lines, [REFERENCES], beta=beta).score for beta in (1, 2, 3)}
    return pytest.approx({**found, "TER": corpus_ter(lines, [REFERENCES]).score})


def test_published_sets_are_read(files):
    first, second = read_eamt22(files / "test.json")
    assert first.source == SET[0]["english"] and first.reference == REFERENCES[0] and not first.expected
    assert first.attributes == {
        "speaker": "feminine", "addressee": "masculine", "number": "singular", "formality": "formal",
    }  # fmt: skip
    assert second.attributes == {"addressee": "mixed", "number": "plural", "formality": "informal"}
    sentences = {("addressee", "number"): {("masculine", "singular"): "He", ("mixed", "plural"): "They"}}
    assert metadata_of("x", [first, second], sentences) == [
        {"speaker": "feminine", "formality": "formal", "addressee+number": "He"},
        {"formality": "informal", "addressee+number": "They"},
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"context_csv": "<sp:feminine>"}, "test.json: example 1: expected 4 fields"),
        ({"context_csv": "<il:feminine>,,,"}, "for the speaker, found '<il:feminine>'"),
        ({"polish": None}, "a string at the key 'polish'"),
        ({"english": " "}, "one line of text at the key 'english'"),
    ],
)
def test_other_sets_are_refused(files, change, expected):
    (files / "test.json").write_text(json.dumps([{**SET[0], **change}]))
    with pytest.raises(BadInput) as refused:
        read_eamt22(files / "test.json")
    assert expected in str(refused.value)
    for content in ("[]", "{}", "3"):
        (files / "test.json").write_text(content)
        with pytest.raises(BadInput, match="expected a list of objects"):
            read_eamt22(files / "test.json")


def test_translations_are_scored(files, capsys):
    arguments = ("attributes", "--hypotheses", files / "hyp", files / "test.json", "--json", files / "j")
    assert not main(["control", *map(str, arguments)])
    found = json.loads((files / "j").read_text())
    assert found["scores"] == {"context": scores(HYPOTHESES)} and found["accuracy"] is None
    printed = capsys.readouterr().out
    assert (
        "together" not in printed and f"BLEU     {corpus_bleu(HYPOTHESES, [REFERENCES]).score:.2f}" in printed
    )


def test_a_model_is_scored_with_context_and_without(files, monkeypatch, capsys):
    plain = ["Byłem tam.", "Wyszedłeś."]
    steps = type("Steps", (), {"surface": staticmethod(str), "lowercase": False, "bleu_tokenizer": None})
    loaded = Mock(reads_metadata=True, **{"target_subwords.steps": steps})
    monkeypatch.setattr(Attributes, "_translated", lambda self, examples: (loaded, HYPOTHESES, plain))
    arguments = ["model.pt", files / "test.json", "--json", files / "j", "--translations", files / "out"]
    assert not main(["control", "attributes", *map(str, arguments)])
    assert json.loads((files / "j").read_text())["scores"] == {
        "context": scores(HYPOTHESES), "no context": scores(plain),
    }  # fmt: skip
    assert (files / "out").read_text().splitlines() == HYPOTHESES


def test_chinese_is_scored_by_characters():
    examples = [AttributeExample("a", {}, {}, {}, reference="我昨天在那里看见了你的朋友")]
    lines = ["我昨天在那里看见了他的朋友"]
    found = reference_scores(examples, {"x": lines}, TextSteps((), "zh"))["x"]["BLEU"]
    expected = corpus_bleu(lines, [[examples[0].reference]], tokenize="zh").score
    assert found == pytest.approx(expected) and found > 50


def test_references_in_a_set_of_ones_own(tmp_path):
    line = {"source": "a", "attributes": {"x": "1"}, "expected": {"x": ["b"]}, "wrong": {"x": ["c"]}}
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**line, "reference": " b d "}) + "\n")
    assert read_attribute_set(path)[0].reference == "b d"
    path.write_text(path.read_text() + json.dumps(line) + "\n")
    with pytest.raises(BadInput) as refused:
        read_attribute_set(path)
    assert str(refused.value) == f"{path}:2: add the key 'reference', which other lines have"
