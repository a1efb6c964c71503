"""Puts the subwords of a sentence to its words, and sums values of subwords to values of words."""

from typing import List, NamedTuple, Optional

import numpy as np

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.text.languages import unspaced


class SplitWords(NamedTuple):
    """The W words of a sentence, and the P subwords that a model reads, with the word of each (P,). If the
    words together are not the text (``as_written``), the subword model reads it in another form, from which
    they come."""

    words: List[str]
    pieces: List[str]
    place: np.ndarray
    as_written: bool


def split_words(text: str, subwords: Subwords, output: Optional[str] = None) -> SplitWords:
    """The words and subwords of a sentence; the words are those of its form in ``output``, if that is given.
    It is cut otherwise than the text: Moses' tokeniser, for one, heeds capitals."""
    pieces = subwords.encode(text).split()
    starts = subwords.word_starts(pieces)[1:]  # the first piece always starts a word
    place = np.cumsum([0, *starts])[: len(pieces)]
    shown = text if output is None else output
    words, count = shown.split(), int(place[-1]) + 1 if pieces else 0
    if len(words) == count and not unspaced(shown):
        return SplitWords(words, pieces, place, True)
    words = ["" for _ in range(count)]
    for number, piece in zip(place, pieces, strict=True):
        words[number] += subwords.bare(piece)
    return SplitWords(words, pieces, place, "".join(words) == "".join(shown.split()))


class WordValues(NamedTuple):
    """The words of a sentence and their values (W,), sums over subwords; and the value of ``</s>``."""

    words: List[str]
    values: np.ndarray
    end: float
    as_written: bool


def word_values(
    text: str, subwords: Subwords, values: np.ndarray, output: Optional[str] = None
) -> WordValues:
    """The values of a sentence's words (``split_words``), from those of its subwords, but a language's token,
    and ``</s>``."""
    words, pieces, place, as_written = split_words(text, subwords, output)
    values = np.pad(values, (int(subwords.token != "" and len(pieces) > 0), 0))
    if len(values) != len(pieces) + 1:
        raise ValueError(f"{len(pieces)} subwords and </s>, {len(values)} values")
    sums = np.bincount(place, weights=values[:-1], minlength=len(words))
    return WordValues(words, sums, float(values[-1]), as_written)
