"""Keeps the weight of every target token of a training text, for the loss."""

import logging
from typing import Callable, Iterable, List, NamedTuple, Optional, Sequence

import numpy as np
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.word_weights import LineWeights

logger = logging.getLogger(__name__)
TOLERATED = 0.01  # up to this share of lines may have other words, such as odd characters give


class SplitLine(NamedTuple):
    """The words of a binarised sentence, and how many subwords each has."""

    words: List[str]
    counts: Sequence[int]


class TokenWeights:
    """The weights of the target tokens, with ``</s>``, of S sentences, as one array of float32."""

    def __init__(self, sizes: np.ndarray):
        self.ends = np.cumsum(sizes, dtype=np.int64)
        self.values = np.ones(int(self.ends[-1]) if len(sizes) else 0, np.float32)

    def of(self, line: int) -> torch.Tensor:
        """The weights (T,) of a sentence's tokens; ``</s>`` has 1."""
        return torch.from_numpy(self.values[self.ends[line - 1] if line else 0 : self.ends[line]])

    @classmethod
    def read(
        cls, lines: Iterable[LineWeights], sizes: np.ndarray, split: Callable[[int], Optional[SplitLine]]
    ) -> "TokenWeights":
        """Give the weights of words, into which ``split`` cuts a line, to their subwords; others have 1.
        Lines that cannot be used are counted and logged: a subword is unknown, so nobody knows which word it
        is of, or the file has other words, which is refused in more than 1 % of the lines."""
        made = cls(sizes)
        read = unknown = other = 0
        first: Optional[BadInput] = None
        for line in lines:
            read += 1
            sentence = split(line.line)
            if sentence is None:
                unknown += 1
                continue
            try:
                weights = line.of(sentence.words)
            except BadInput as error:
                first, other = first or error, other + 1
            else:
                made.of(line.line)[:-1] = torch.from_numpy(np.repeat(weights, sentence.counts))
        if first is not None and other > TOLERATED * read:
            raise BadInput(f"{first} (so in {other} of {read} lines)")
        logger.info(
            "token weights: mean %.3f, %d of %d tokens have another than 1; %d of %d lines are left out for "
            "unknown subwords, %d for other words",
            *(made.values.mean(dtype=np.float64), np.count_nonzero(made.values != 1), len(made.values)),
            *(unknown, read, other),
        )
        return made
