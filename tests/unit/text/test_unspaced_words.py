"""Words of scripts that put no blanks between them: characters with their marks, in every place that counts
words or gives them values."""

import json

import numpy as np
import pytest
from fairseq.data import Dictionary
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.corpora.binarised_words import SideWords
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.probe.word_values import word_values
from ctxmt_fairseq.evaluation.significance.systems import Translation, length_ratio
from ctxmt_fairseq.generation.cross_entropy import length_of
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.word_tags import read_tags, tags_of_parts
from ctxmt_fairseq.text.word_weights import written_weights


class Pieces(Subwords):
    """A vocabulary of its own: cuts as it is told, ``_`` starts a word."""

    def __init__(self, *pieces):
        super().__init__()
        self.pieces, self.processor = [piece.replace("_", "▁") for piece in pieces], object()

    def encode(self, text):
        return " ".join(self.pieces)

    def bare(self, piece):
        return piece.replace("▁", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is  late.", ["It", "is", "late."]),
        ("他们用iPhone 12。", ["他", "们", "用", "iPhone", "12。"]),
        ("น้ำดี", ["น้ำ", "ดี"]),  # marks stay with their letter
        ("か\u3099く", ["か\u3099", "く"]),
        ("コーヒー2杯", ["コ", "ー", "ヒ", "ー", "2", "杯"]),  # not ー2
        ("", []),
    ],
)
def test_words(text, words):
    assert words_of(text) == words and length_of(text) == len(words) + 1


@given(st.text("aé 中文ก้ำ。か\u3099\u3000", max_size=30))
def test_words_are_the_text_without_white_space(text):
    assert "".join(words_of(text)) == "".join(text.split())


def test_length_ratio():
    assert length_ratio(Translation(["他们 来"], [["他们来了"]])) == 3 / 4


def test_values_are_those_of_pieces():
    subwords = Pieces("_他们", "用", "i", "Phone", "_12", "。")
    found = word_values("他们用iPhone 12。", subwords, np.arange(7.0))
    # What follows a piece of Chinese is a word of its own; other pieces go on as ever.
    assert found.words == ["他们", "用", "iPhone", "12。"] and found.values.tolist() == [0, 1, 5, 9]
    assert found.as_written and found.end == 6


def test_tags_and_weights_of_characters_become_those_of_pieces(tmp_path):
    tags = [["a"], [], ["b"], ["c"]]
    (tmp_path / "tags").write_text(json.dumps({"tags": tags}))
    (known,) = read_tags(tmp_path / "tags", ["他们来 x"])
    assert tags_of_parts(known, words_of("他们来 x"), ["他们", "来", "x"]) == [("a",), ("b",), ("c",)]
    (tmp_path / "weights").write_text("1 3 0.5 2\n")
    (weights,) = written_weights(tmp_path / "weights", 1)
    assert weights.of(["他们", "来", "x"]).tolist() == [3, 0.5, 2]


def test_places_of_characters():
    subwords = Pieces("_他们", "用", "i", "Phone", "_12", "。")
    dictionary = Dictionary()
    tokens = [dictionary.add_symbol(piece) for piece in subwords.pieces]
    side = SideWords([np.array([*tokens, dictionary.eos()])], dictionary, subwords)
    assert [at.tolist() for at in side.places(0)] == [[0], [0], [1], [2, 3], [4, 5]]
    assert side.split(0) == (["他们", "用", "iPhone", "12。"], [1, 1, 2, 2])
