"""How examples/evidence measures the tagger: what is an answer, and which words count."""

import json

import pytest

from ctxmt_fairseq.base.errors import BadInput

MARKED = {"formal": "[F]Haben Sie[/F] das gehört?", "informal": "[F]Hast du[/F] das gehört?"}
SET = [
    {
        "src": "Whose blood ? _eos Blood ?",
        "dst": ["Чьей крови ? _eos Крови ?", "Чьей крови ? _eos Кровь ?"],
        "true_ind": 0,
        "ctx_dist": 1,
    }
]
WORDS = [["Haben", "Sie", "das", "gehört", "?"], ["Hast", "du", "das", "gehört", "?"]]


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "en-de"
    folder.mkdir()
    (folder / "talk.en").write_text("Did you hear that?\n", encoding="utf-8")
    for form, line in MARKED.items():
        (folder / f"talk.{form}.annotated.de").write_text(f"{line}\n", encoding="utf-8")
    return folder


def test_a_set_that_is_not_there_is_refused(evidence, tmp_path):
    with pytest.raises(BadInput, match="en-de: expected files"):
        list(evidence.tagger.marked(tmp_path / "en-de"))


def test_marked_characters_are_the_answer(evidence, marks):
    formal, informal = evidence.tagger.marked(marks)
    assert (formal.source, formal.target) == (["Did you hear that?"], ["Haben Sie das gehört?"])
    assert formal.answer == [True] * len("HabenSie") + [False] * len("dasgehört?")
    assert informal.target == ["Hast du das gehört?"] and sum(informal.answer) == len("Hastdu")


def test_differing_words_are_the_answer(evidence, tmp_path):
    path = tmp_path / "ellipsis_infl.json"
    path.write_text(json.dumps(SET), encoding="utf-8")
    (document,) = evidence.tagger.differing(path)
    assert document.source == ["Whose blood ?", "Blood ?"] and document.target == ["Чьей крови ?", "Крови ?"]
    assert document.answer == [True] * len("Крови") + [False]


def test_words_are_counted_whatever_their_cut(evidence, marks, tmp_path, monkeypatch):
    """Of four words with answers two are tagged, and one is tagged that has none."""
    tagged = [[["formality"], [], [], ["formality"], []], [[], ["formality"], ["pronoun"], [], []]]
    commands = []

    def ctxmt(*arguments):
        commands.append(arguments)
        if arguments[1] == "tag":
            lines = (
                json.dumps({"words": words, "tags": tags}) for words, tags in zip(WORDS, tagged, strict=True)
            )
            (tmp_path / "x.tags.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    monkeypatch.setattr(evidence.tagger, "ctxmt", ctxmt)
    for by_document, expected in ((False, 50), (True, 100)):
        known = evidence.tagger.Known(
            "x", "formality", "de", list(evidence.tagger.marked(marks)), "help", by_document
        )
        precision, recall = evidence.tagger.measure(known, tmp_path, tmp_path / "x")
        assert (precision, recall) == (pytest.approx(200 / 3), expected)
    assert (tmp_path / "x.docids").read_text() == "0\n1\n"
    assert commands[0][4:7] == ("--train", tmp_path / "help/train.en", tmp_path / "help/train.de")
