"""Tells which subwords of a binarised sentence are which word."""

from typing import Any, List, Optional

import numpy as np
from fairseq.data import Dictionary

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.token_weights import SplitLine
from ctxmt_fairseq.text.highlights import split_words


class SideWords:
    """One side of a binarised text.

    Args:
        sentences: LongTensors, each with ``</s>`` at its end; None: there are none.
        dictionary: that of their subwords.
        subwords: the segmentation that made them.
    """

    def __init__(self, sentences: Optional[Any], dictionary: Dictionary, subwords: Subwords):
        self.sentences, self.dictionary, self.subwords = sentences, dictionary, subwords

    def places(self, line: int) -> Optional[List[np.ndarray]]:
        """Find the places of each word's subwords in a sentence.

        None: the dictionary lacks a subword, so nobody knows whether it starts a word.
        """
        pieces = [self.dictionary[token] for token in self._tokens(line)]
        if self.subwords.cuts_words and self.dictionary.unk_word in pieces:
            return None
        return split_words(self.subwords.word_starts(pieces))

    def split(self, line: int) -> Optional[SplitLine]:
        """The words of a sentence as the subword model reads them; None: as for ``places``."""
        places = self.places(line)
        if places is None:
            return None
        pieces = [self.subwords.bare(self.dictionary[token]) for token in self._tokens(line)]
        return SplitLine(["".join(pieces[at] for at in word) for word in places], list(map(len, places)))

    def _tokens(self, line: int) -> List[int]:
        return [] if self.sentences is None else self.sentences[line].tolist()[:-1]
