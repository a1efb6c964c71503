"""A sentence's words and subwords, and values of subwords as values of words."""

from typing import List, NamedTuple, Sequence

import numpy as np

from ctxmt_fairseq.corpora.subwords import Subwords


class SplitWords(NamedTuple):
    """A sentence's W words and the P subwords that a model reads.

    Attributes:
        place: (P,) the word of each subword.
        as_written: whether the words are those between the text's white space; otherwise the subword model
            reads the text in another form, and the words are as it has them.
    """

    words: List[str]
    pieces: List[str]
    place: np.ndarray
    as_written: bool


def split_words(text: str, subwords: Subwords) -> SplitWords:
    """The words and subwords of a sentence."""
    pieces = subwords.encode(text).split()
    place = word_of_each(subwords.word_starts(pieces))
    words, count = text.split(), int(place[-1]) + 1 if pieces else 0
    if len(words) == count:
        return SplitWords(words, pieces, place, True)
    words = ["" for _ in range(count)]
    for number, piece in zip(place, pieces, strict=True):
        words[number] += subwords.bare(piece)
    return SplitWords(words, pieces, place, False)


class WordValues(NamedTuple):
    """A sentence's words and their values.

    Attributes:
        words: W of them.
        values: (W,) each the sum of the word's subwords.
        end: of ``</s>``.
        as_written: see ``SplitWords``.
    """

    words: List[str]
    values: np.ndarray
    end: float
    as_written: bool


def word_values(text: str, subwords: Subwords, values: np.ndarray) -> WordValues:
    """The values of a sentence's words.

    Args:
        values: (P + 1,) of its P subwords and ``</s>``.
    """
    words, pieces, place, as_written = split_words(text, subwords)
    if len(values) != len(pieces) + 1:
        raise ValueError(f"{len(pieces)} subwords and </s>, {len(values)} values")
    sums = np.bincount(place, weights=values[:-1], minlength=len(words))
    return WordValues(words, sums, float(values[-1]), as_written)


def word_of_each(starts: Sequence[bool]) -> np.ndarray:
    """The word, from 0, that each of P pieces belongs to: (P,) int.

    Args:
        starts: which pieces start a word; the first one does in any case.
    """
    starting = np.array(starts, dtype=bool)
    starting[:1] = True
    return np.cumsum(starting) - 1
