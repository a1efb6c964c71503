"""A shortening: a sentence is what it begins with."""

from typing import Any, List, Tuple

import numpy as np
from torch import Tensor

from ctxmt_fairseq.models.blocks.pads import real_first
from ctxmt_fairseq.models.blocks.shortening import SHORTENINGS, Shortening


@SHORTENINGS.register("first-words")
class FirstWords(Shortening):
    """Of the states of a sentence the first K, whatever stands after them; K' = min(K, L)."""

    description = "the first K tokens"
    sized = True
    keeps_tokens = True

    def __init__(self, embed_dim: int, size: int, *others: Any):
        super().__init__()
        self.size = size

    def vectors(self, tokens: np.ndarray) -> np.ndarray:
        return np.minimum(tokens, self.size)

    def labels(self, tokens: List[str]) -> List[str]:
        return tokens[: self.size]

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """(R, K', D) and its padding (R, K') of ``states`` (R, L, D) and ``padding`` (R, L)."""
        return real_first(states, padding, self.size)
