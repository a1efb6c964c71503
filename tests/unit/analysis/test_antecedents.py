"""Which context words a pronoun's attention picks, against antecedents and simple heuristics."""

import json

import numpy as np
import pytest

from ctxmt_fairseq.analysis.antecedents import agreement
from ctxmt_fairseq.analysis.text_attention import AttendedSentence, ContextSentence, read_words
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.text.annotation import AnnotatedWord, is_noun
from ctxmt_fairseq.text.coreference import Antecedent, Reference
from tests.helpers.coreference_files import record, write_lines
from tests.helpers.probed_models import checkpoint, write_text
from tests.unit.analysis.test_text_attention import Pieces

LINES = ["A dog, a red cat .", "Birds !", "It saw it .", "You !"]


def nouns():
    words = {0: ("dog", "cat"), 1: ("Birds",), 2: (), 3: ()}
    return [
        [AnnotatedWord(w, LINES[n].index(w), LINES[n].index(w) + len(w)) for w in words[n]] for n in words
    ]


def piece(line, text):
    """The number of the first subword of a word."""
    read = read_words(LINES[line], Pieces())
    return int(np.flatnonzero(read.place == read.words.index(text))[0])


def attended(line, *strongest):
    """A sentence after the first two lines; each word's weights have their peak at (line, word), and higher
    ones at the first line's full stop and in target context, which do not count."""
    own = read_words(LINES[line], Pieces())
    context = []
    for other in (0, 1):
        read = read_words(LINES[other], Pieces())
        weights = np.full((len(own.words), len(read.place)), 0.01)
        if other == 0:
            weights[:, -1] = 0.9
        for word, (at, text) in enumerate(strongest):
            if at == other:
                weights[word, piece(at, text)] = 0.05
        context.append(ContextSentence(other, False, read, weights))
    target = read_words("Un chat et un chien", Pieces())
    context.append(ContextSentence(1, True, target, np.full((len(own.words), len(target.place)), 0.5)))
    return AttendedSentence(line, own, context)


def refers(line, start, word, at, nominal=True, source="corenlp"):
    """The pronoun at a place of a line to a word of another."""
    begin = LINES[at].index(word)
    text = LINES[line][start:].split()[0]
    antecedent = Antecedent(at, (begin, begin + len(word)), nominal)
    return Reference(line, (start, start + len(text)), text.lower(), antecedent, source)


def test_agreement_with_attention_and_heuristics_by_hand():
    sentences = [attended(2, (0, "cat"), (0, "A"), (1, "Birds")), attended(3, (0, "dog,"))]
    references = [
        refers(2, 0, "a red cat", 0),  # attention is right
        refers(2, 7, "dog", 0),  # it looks at Birds
        refers(3, 0, "Birds", 1),  # it looks at the dog
    ]
    found = agreement(sentences, references, "corenlp", nouns())
    records = {(row["pronoun"], row["more_than_one_noun"]): row for row in found.records()}
    assert records["all", False] == {
        "pronoun": "all", "more_than_one_noun": False, "n": 3,
        "random": pytest.approx(100 / 3), "first": pytest.approx(100 / 3), "last": pytest.approx(100 / 3),
        "attention": pytest.approx(100 / 3),
    }  # fmt: skip
    it = records["it", True]
    assert (it["n"], it["attention"], it["first"], it["last"]) == (2, 50, 50, 0)
    assert (records["you", True]["attention"], records["you", True]["last"]) == (0, 100)
    assert not found.left_out and "it, more than one noun" in found.table()


def test_one_noun_in_the_context_is_no_evidence():
    sentence = attended(2, (0, "cat"), (0, "A"), (0, "dog,"))
    only = AttendedSentence(2, sentence.words, sentence.context[1:])
    found = agreement([only], [refers(2, 0, "Birds", 1)], "corenlp", nouns())
    (row, _) = found.records()
    assert row["n"] == 1 and row["random"] == row["first"] == row["last"] == 100
    assert not any(row["more_than_one_noun"] for row in found.records())


def test_without_annotation_attention_alone():
    found = agreement([attended(2, (0, "red"))], [refers(2, 0, "a red cat", 0)], "corenlp")
    assert found.records()[0] == {"pronoun": "all", "more_than_one_noun": False, "n": 1, "attention": 100}


def test_people_against_attention_and_a_tool():
    sentences = [attended(2, (0, "cat"), (0, "A"), (1, "Birds")), attended(3, (0, "dog,"))]
    people = [refers(2, 0, "red cat", 0, source="human"), refers(2, 7, "dog", 0, source="human"),
              refers(3, 0, "Birds", 1, source="human")]  # fmt: skip
    tool = [refers(2, 0, "dog", 0), refers(2, 7, "A dog", 0)]  # wrong, right
    found = agreement(sentences, [*people, *tool], "human", nouns())
    (both, *_) = found.confusions()
    assert both == {
        "pronoun": "all", "more_than_one_noun": False, "source": "corenlp", "n": 2,
        "attention_right_right": 0, "attention_right_wrong": 50,
        "attention_wrong_right": 50, "attention_wrong_wrong": 0,
    }  # fmt: skip
    assert found.records()[0]["n"] == 3 and "corenlp wrong" in found.table()


def test_what_does_not_count_is_counted():
    sentences = [attended(2, (0, "cat"))]
    none = Reference(2, (0, 2), "it", None, "corenlp")
    two = refers(2, 0, "A dog, a red cat", 0)
    far = Reference(2, (0, 2), "it", Antecedent(3, (0, 3), True), "corenlp")
    references = [none, two, far, refers(2, 0, "dog", 0, nominal=False), refers(3, 0, "dog", 0)]
    found = agreement(sentences, references, "corenlp", nouns())
    assert not found.judged and found.left_out == {
        "without antecedent": 1,
        "without exactly one noun in the antecedent": 1,
        "with an antecedent that the model does not read": 1,
        "with a pronoun as antecedent": 1,
        "in sentences without context": 1,
    }
    assert [is_noun(AnnotatedWord("x", 0, 1, pos)) for pos in ("NOUN", "PROPN", "NNS", "PRP", None)] == [
        True, True, True, False, False,
    ]  # fmt: skip


# ---- the command -------------------------------------------------------------------------------------


def test_antecedents_of_a_model(tmp_path, capsys, refusal):
    model = checkpoint(tmp_path / "model", "multi_source", arch="gated_context_transformer")
    sources = ["a b c", "d e", "f g", "h", "i j", "a", "b d", "c", "e", "f", "g", "h", "i"]
    text = write_text(tmp_path, en=sources)  # documents of 4, 1, 3 and 5 lines
    coreference = write_lines(
        tmp_path / "coref",
        [record(2, [0, 1], 1, [4, 5]), record(3, [0, 1], 2, [0, 1]), record(5, [0, 1], 4, [0, 1])],
    )
    words = [
        {
            "words": [
                {"text": w, "start": 2 * at, "end": 2 * at + 1, "pos": "NOUN"}
                for at, w in enumerate(line.split())
            ]
        }
        for line in sources
    ]
    annotation = write_lines(tmp_path / "words", map(json.dumps, words))
    command = ["analyse", "antecedents", str(model), text, "--cpu", "--coreference", coreference]
    assert not main([*command, "--annotation", annotation, "--json", str(tmp_path / "json")])
    found = json.loads((tmp_path / "json").read_text())
    assert found["agreement"][0]["n"] == 2 and found["left_out"] == {"in sentences without context": 1}
    assert found["agreement"][0]["random"] == pytest.approx(100 * (1 / 3 + 1 / 5) / 2)
    assert found["agreement"][0]["attention"] in (0, 50, 100)
    printed = capsys.readouterr().out
    assert "left out: 1 in sentences without context" in printed and "more than one noun" in printed
    assert "--truth: expected one of the sources corenlp" in refusal(main, [*command, "--truth", "human"])
