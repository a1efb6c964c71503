"""Tells which subwords of a binarised sentence are which word."""

from typing import Any, List, Optional, Tuple

import numpy as np
from fairseq.data import Dictionary

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.token_weights import SplitLine
from ctxmt_fairseq.text.highlights import places_of_words
from ctxmt_fairseq.text.languages import unspaced, words_of
from ctxmt_fairseq.text.word_tags import overlaps


class SideWords:
    """One side of a binarised text: its sentences, if there are any, their dictionary and segmentation."""

    def __init__(self, sentences: Optional[Any], dictionary: Dictionary, subwords: Subwords):
        self.sentences, self.dictionary, self.subwords = sentences, dictionary, subwords

    def places(self, line: int) -> Optional[List[np.ndarray]]:
        """Find the places of each word's subwords in a sentence; words of one subword share it.

        None: the dictionary lacks a subword, so nobody knows whether it starts a word.
        """
        cut = self._cut(line)
        if cut is None or not any(map(unspaced, cut[0])):
            return cut and cut[1]
        pieces, places = cut
        words = [each for at in places for each in words_of("".join(pieces[at[0] : at[-1] + 1]))]
        return [np.array(parts) for parts in overlaps(pieces, words) or ()]

    def _cut(self, line: int) -> Optional[Tuple[List[str], List[np.ndarray]]]:
        """The subwords of a sentence without their marks, and the places of those of each word."""
        tokens = [] if self.sentences is None else self.sentences[line].tolist()[:-1]
        pieces = [self.dictionary[token] for token in tokens]
        if self.subwords.cuts_words and self.dictionary.unk_word in pieces:
            return None
        return [*map(self.subwords.bare, pieces)], places_of_words(self.subwords.word_starts(pieces))

    def split(self, line: int) -> Optional[SplitLine]:
        """The words of a sentence as the subword model cuts them, "" for one that the dictionary lacks; None:
        as for ``places``."""
        cut = self._cut(line)
        if cut is None:
            return None
        pieces, places = cut
        pieces = ["" if piece == self.dictionary.unk_word else piece for piece in pieces]
        return SplitLine(["".join(pieces[at] for at in word) for word in places], [*map(len, places)])
