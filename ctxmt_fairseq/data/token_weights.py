"""Keeps the weight of every target token of a training text, for the loss."""

import logging
from typing import Callable, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.word_weights import LineWeights

logger = logging.getLogger(__name__)
TOLERATED = 0.01  # up to this share of lines may have other words, such as odd characters give


class SplitLine(NamedTuple):
    """The words of a binarised sentence, "" for an unknown one, and how many subwords each has."""

    words: List[str]
    counts: Sequence[int]


class Fit:
    """Gives lines' weights to their words as ``split`` cuts them, and counts the lines of which it cannot:
    something is unknown, so nobody knows which word it is, or the file has other words."""

    def __init__(self, split: Callable[[int], Optional[SplitLine]]):
        self.split = split
        self.read = self.unknown = self.other = 0
        self.first: Optional[BadInput] = None

    def of(self, line: LineWeights) -> Optional[Tuple[np.ndarray, Sequence[int]]]:
        """The weight of each word, and how many subwords it has."""
        self.read += 1
        sentence = self.split(line.line)
        if sentence is None:
            self.unknown += 1
            return None
        try:
            return line.of(sentence.words), sentence.counts
        except BadInput as error:
            if "" in sentence.words:
                self.unknown += 1
            else:
                self.first, self.other = self.first or error, self.other + 1
            return None

    def check(self) -> None:
        """Refuse a file that has other words in more than 1 % of the lines."""
        if self.first is not None and self.other > TOLERATED * self.read:
            raise BadInput(f"{self.first} (so in {self.other} of {self.read} lines)")


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
        """Give the weights of words, into which ``split`` cuts a line, to their subwords; others have 1, also
        those of lines that do not ``Fit``, which are logged."""
        made, fit = cls(sizes), Fit(split)
        for line in lines:
            found = fit.of(line)
            if found is not None:
                made.of(line.line)[:-1] = torch.from_numpy(np.repeat(*found))
        fit.check()
        logger.info(
            "token weights: mean %.3f, %d of %d tokens have another than 1; %d of %d lines are left out for "
            "unknown subwords, %d for other words",
            *(made.values.mean(dtype=np.float64), np.count_nonzero(made.values != 1), len(made.values)),
            *(fit.unknown, fit.read, fit.other),
        )
        return made
