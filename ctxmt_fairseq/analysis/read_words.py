"""A sentence's words and the subwords that a model reads, side by side."""

import re
from dataclasses import dataclass
from typing import List, Optional, Tuple

import numpy as np

from ctxmt_fairseq.analysis.tokens import has_letters
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.probe.word_values import word_of_each

Span = Tuple[int, int]  # characters, from the first to behind the last


@dataclass(frozen=True)
class ReadWords:
    """A sentence of W words and P subwords.

    Attributes:
        words: between the text's white space; or, where the subword model reads the text in another form, as
            it has them.
        spans: where they stand in the text; None where a word is not found there.
        place: (P,) the word of each subword.
        lexical: (P,) whether a subword has letters or digits: it is no punctuation.
    """

    words: List[str]
    spans: List[Optional[Span]]
    place: np.ndarray
    lexical: np.ndarray

    @property
    def lexical_words(self) -> np.ndarray:
        """(W,) whether a word has such subwords."""
        return np.bincount(self.place, weights=self.lexical, minlength=len(self.words)) > 0

    def within(self, span: Span) -> np.ndarray:
        """(W,) whether a word overlaps a span."""
        start, end = span
        return np.array([found is not None and found[0] < end and start < found[1] for found in self.spans])


def read_words(text: str, subwords: Subwords) -> ReadWords:
    """The words of a sentence."""
    pieces = subwords.encode(text).split()
    place = word_of_each(subwords.word_starts(pieces))
    lexical = np.array([has_letters(subwords.bare(piece)) for piece in pieces], dtype=bool)
    count = int(place[-1]) + 1 if pieces else 0
    found = list(re.finditer(r"\S+", text))
    if len(found) == count:
        return ReadWords([each[0] for each in found], [each.span() for each in found], place, lexical)
    words = ["" for _ in range(count)]
    for number, piece in zip(place, pieces, strict=True):
        words[number] += subwords.bare(piece)
    return ReadWords(words, _find(words, text), place, lexical)


def _find(words: List[str], text: str) -> List[Optional[Span]]:
    """Where words stand in a text, one after the other; case does not matter."""
    spans: List[Optional[Span]] = []
    at = 0
    for word in words:
        match = re.compile(re.escape(word), re.IGNORECASE).search(text, at) if word else None
        spans.append(match.span() if match else None)
        at = match.end() if match else at
    return spans
