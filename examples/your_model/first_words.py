"""A shortening: a sentence is what it begins with."""

from typing import Tuple

from torch import Tensor

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.modules.pads import real_first
from ctxmt_fairseq.modules.shortening import Shortening


class FirstWords(Shortening):
    """Of the states of a sentence the first K, whatever stands after them; K' = min(K, L).

    Args:
        size: K.

    Raises:
        BadInput: K below 1.
    """

    def __init__(self, size: int):
        super().__init__()
        if size < 1:
            raise BadInput(f"--first-words {size}: expected 1 or more")
        self.size = size

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """(R, K', D) and its padding (R, K') of ``states`` (R, L, D) and ``padding`` (R, L)."""
        states, padding = real_first(states, padding)
        return states[:, : self.size], padding[:, : self.size]
