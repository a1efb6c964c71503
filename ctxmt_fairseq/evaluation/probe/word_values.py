"""Values of subwords to values of words."""

from typing import List, NamedTuple, Sequence

import numpy as np

from ctxmt_fairseq.corpora.subwords import Subwords


class WordValues(NamedTuple):
    """A sentence's words and their values.

    Attributes:
        words: W of them.
        values: (W,) each the sum of the word's subwords.
        end: of ``</s>``.
        as_written: whether the words are those between the text's white space; otherwise the subword model
            reads the text in another form, and the words are as it has them.
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
    pieces = subwords.encode(text).split()
    places = word_of_each(subwords.word_starts(pieces))
    if len(values) != len(pieces) + 1:
        raise ValueError(f"{len(pieces)} subwords and </s>, {len(values)} values")
    count = int(places[-1]) + 1 if pieces else 0
    sums = np.bincount(places, weights=values[:-1], minlength=count)
    words = text.split()
    as_written = len(words) == count
    if not as_written:
        words = ["" for _ in range(count)]
        for place, piece in zip(places, pieces, strict=True):
            words[place] += subwords.bare(piece)
    return WordValues(words, sums, float(values[-1]), as_written)


def word_of_each(starts: Sequence[bool]) -> np.ndarray:
    """The word, from 0, that each of P pieces belongs to: (P,) int.

    Args:
        starts: which pieces start a word; the first one does in any case.
    """
    starting = np.array(starts, dtype=bool)
    starting[:1] = True
    return np.cumsum(starting) - 1
