"""The words of a sentence, and the subwords that a model reads for each."""

import re
from dataclasses import dataclass
from typing import List, Optional

import numpy as np

from ctxmt_fairseq.corpora.linguistics.words import has_letters
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.probe.word_values import split_words
from ctxmt_fairseq.text.coreference import Span, overlap


@dataclass(frozen=True)
class ReadWords:
    """A sentence of W words and P subwords.

    Attributes:
        words: those between white space in the text, or in the form in which the subword model reads it.
        spans: their places in the text; None for a word that is not found there.
        place: (P,) the word of each subword.
        lexical: (P,) whether a subword has letters or digits, and is no punctuation.
    """

    words: List[str]
    spans: List[Optional[Span]]
    place: np.ndarray
    lexical: np.ndarray

    @property
    def lexical_words(self) -> np.ndarray:
        """(W,) whether a word has lexical subwords."""
        return np.bincount(self.place, weights=self.lexical, minlength=len(self.words)) > 0

    def within(self, span: Span) -> np.ndarray:
        """(W,) whether a word overlaps a span."""
        return np.array([found is not None and overlap(found, span) for found in self.spans])


def read_words(text: str, subwords: Subwords) -> ReadWords:
    """The words of a sentence."""
    split = split_words(text, subwords)
    lexical = np.array([has_letters(subwords.bare(piece)) for piece in split.pieces], dtype=bool)
    return ReadWords(split.words, _find(split.words, text), split.place, lexical)


def _find(words: List[str], text: str) -> List[Optional[Span]]:
    """The places of words in a text, one after the other; case does not matter."""
    spans: List[Optional[Span]] = []
    at = 0
    for word in words:
        match = re.compile(re.escape(word), re.IGNORECASE).search(text, at) if word else None
        spans.append(match.span() if match else None)
        at = match.end() if match else at
    return spans
