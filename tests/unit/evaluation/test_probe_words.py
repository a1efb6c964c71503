"""Words from subwords, and tags of words."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.corpora.text_steps import Moses, TextSteps, Truecase
from ctxmt_fairseq.corpora.truecasing import count_forms, forms_text
from ctxmt_fairseq.evaluation.probe.cxmi import token_bits
from ctxmt_fairseq.evaluation.probe.selection import Scores
from ctxmt_fairseq.evaluation.probe.word_report import bare, sentence_words
from ctxmt_fairseq.evaluation.probe.word_values import split_words, word_values
from ctxmt_fairseq.generation.forced_scoring import TokenScores
from ctxmt_fairseq.text.word_tags import read_tags

CORPUS = [
    "the cat sleeps here",
    "a dog barks loudly",
    "cats and dogs sleep",
    "l'été est là, n'est-ce pas ?",
] * 20
TEXTS = st.lists(st.text("abcdeglstéç'-,.?ЖñX", min_size=1, max_size=9), max_size=8).map(" ".join)


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    path = tmp_path_factory.mktemp("spm") / "spm.model"
    path.write_bytes(train_subwords(CORPUS, 36))
    return Subwords(path)


@given(text=TEXTS, seed=st.integers(0, 100))
def test_a_word_has_the_values_of_its_subwords(subwords, text, seed):
    """The words are the text's; with values that say which piece they are of, each piece is in its word."""
    pieces = subwords.encode(text).split()
    found = word_values(text, subwords, np.arange(1.0, len(pieces) + 2))
    assert found.words == text.split() and found.as_written and found.end == len(pieces) + 1
    at = 0
    for word, value in zip(found.words, found.values, strict=True):
        taken = ""
        expected = 0
        while taken.replace("▁", "") != word:
            taken, expected, at = taken + pieces[at], expected + at + 1, at + 1
        assert value == expected
    assert at == len(pieces)
    values = np.random.default_rng(seed).normal(size=len(pieces) + 1)
    found = word_values(text, subwords, values)
    assert found.values.sum() + found.end == pytest.approx(values.sum())


@given(text=TEXTS)
def test_without_a_subword_model_every_piece_is_a_word(text):
    values = np.arange(len(text.split()) + 1.0)
    found = word_values(text, Subwords(), values)
    assert found.words == text.split() and [*found.values, found.end] == values.tolist()


def test_where_words_start(subwords, monkeypatch):
    monkeypatch.setattr(Subwords, "encode", lambda _, text: text)

    def split(subwords, *pieces):
        return split_words(" ".join(pieces), subwords).place.tolist()

    assert split(subwords, "▁a", "b", "▁", "c", "▁d") == [0, 0, 1, 1, 2]
    assert split(subwords, "a", "▁b") == [0, 1]  # a model that marks no start of the text
    assert split(Subwords(), "a", "▁b", "c@@", "d") == [0, 1, 2, 3]
    assert split(subwords) == split(Subwords()) == []


def test_words_that_the_subword_model_reads_otherwise_are_its_own(tmp_path):
    (tmp_path / "spm.model").write_bytes(train_subwords(CORPUS, 36, normalization="nmt_nfkc"))
    subwords = Subwords(tmp_path / "spm.model")
    text = "cat\u200bs"  # a space of no width is white space to SentencePiece alone
    pieces = subwords.encode(text).split()
    found = word_values(text, subwords, np.ones(len(pieces) + 1))
    assert not found.as_written and found.words == ["cat", "s"]
    assert found.values.sum() == len(pieces)


@pytest.mark.parametrize("escape", [True, False])
def test_words_that_are_truecased_and_escaped_keep_their_tags(tmp_path, escape):
    (tmp_path / "truecase").write_text(forms_text(count_forms(["Oh , elle brille ."])))
    steps = TextSteps([Moses("fr", escape), Truecase(tmp_path / "truecase")], "fr")
    lines = ["Elle l'a."]
    text: Any = SimpleNamespace(current=np.array([0]), references=lines, written=lines)
    (found,) = sentence_words(text, Subwords(steps=steps), [np.arange(5.0)], [[("pronoun",), ("x",)]])
    assert found.words.words == ["elle", "l&apos;" if escape else "l'", "a", "."]
    assert found.tags == [("pronoun",), ("x",), ("x",), ("x",)]
    scores = Scores("mean-cxmi")
    scores.add(found)
    assert scores.select(1).cxmi == 10 / 2, "of two words, not of their four tokens"


def test_bare_words():
    assert [bare(word) for word in ("«Chat»,", "l'Été.", "...", "3,5", "")] == [
        "chat",
        "l'été",
        "...",
        "3,5",
        "",
    ]


REFERENCE = ["C'est elle.", ""]


def tags_of(tmp_path, *records):
    (tmp_path / "tags").write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_tags(tmp_path / "tags", REFERENCE)


def test_tags_of_words_and_of_tokens(tmp_path):
    expected = [[("verb", "x"), ("pronouns",)], []]
    nothing = {"tags": []}
    assert tags_of(tmp_path, {"tags": [["verb", "x", "x"], ["pronouns"]]}, nothing) == expected
    tokens = {"words": ["c'", "est", "elle", "."], "tags": [["verb"], ["x", "verb"], ["pronouns"], []]}
    assert tags_of(tmp_path, tokens, {**nothing, "words": []}) == expected


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"tags": [[]]}], "tags:1: expected tags of the line's 2 words, found 1"),
        ([{"tags": ["x", "y"]}], "tags:1: expected 'tags' to be a list with a list of strings"),
        ([{"tags": [[1], []]}], "tags:1: expected 'tags' to be a list with a list of strings"),
        ([{"words": ["C'est"], "tags": [[], []]}], "tags:1: expected 'words' to be 2 strings"),
        (
            [{"words": ["C'est", "lui."], "tags": [[], []]}],
            "tags:1: expected 'words' to be the words of the line",
        ),
        ([{"tag": []}], "tags:1: expected the key 'tags'"),
        ([{"tags": [[], []]}], "tags: expected 2 lines, one for each sentence, found 1"),
        (
            [{"tags": [[], []]}, {"tags": []}, {"tags": []}],
            "tags:3: expected 2 lines, one for each sentence, found more",
        ),
    ],
)
def test_bad_tags_are_refused(tmp_path, records, message):
    with pytest.raises(BadInput) as error:
        tags_of(tmp_path, *records)
    assert message in str(error.value)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_probabilities_that_are_not_numbers_are_refused(value):
    scores = [TokenScores(np.array([value, -1.0]), 0)]
    with pytest.raises(BadInput, match="probabilities that are not numbers"):
        token_bits(scores, scores)
