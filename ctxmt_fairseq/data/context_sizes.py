"""Numbers of a batch that the host needs: it would otherwise read them from a GPU, and wait for it."""

from dataclasses import dataclass, replace
from typing import Any, Callable, Optional, Tuple

import numpy as np
from torch import Tensor

from ctxmt_fairseq.data.length_groups import Group


def _tokens(sizes: np.ndarray) -> np.ndarray:
    return sizes


@dataclass(frozen=True, eq=False)
class ContextSizes:
    """Of a batch of B examples; arrays stay where they are when fairseq moves a batch to a device.

    Attributes:
        context: (B, C) tokens of each context sentence, 0 for none.
        source: (B,) tokens of what the encoder reads besides.
        sentences: (R,) tokens of each sentence that stands in the batch's context, on its own.
        keys: R names of these sentences, and ``current_keys`` those of the B current ones, for states that
            are kept from batch to batch; None where the sentences are not what the corpus has.
        groups: the B rows in groups that are computed by themselves, with their widths of source and target.
        context_groups: the context's sentences that are encoded, likewise; none: all at once.
    """

    context: np.ndarray
    source: np.ndarray
    sentences: np.ndarray
    keys: Optional[Tuple[int, ...]] = None
    current_keys: Optional[Tuple[int, ...]] = None
    groups: Tuple[Group, ...] = ()
    context_groups: Tuple[Group, ...] = ()

    def widest(self, vectors: Callable[[np.ndarray], Any] = _tokens, current: bool = False) -> int:
        """The most vectors that a row's context has, at least 1.

        Args:
            vectors: how many a sentence of so many tokens becomes; default: a token, a vector.
            current: whether the source counts as one more sentence.
        """
        rows = vectors(self.context).sum(axis=1)
        return max(1, int((rows + vectors(self.source) if current else rows).max()))

    def of_rows(self, rows: slice) -> "ContextSizes":
        """What concerns some rows alone: their context's and source's tokens."""
        return replace(self, context=self.context[rows], source=self.source[rows])

    def exchanged(self, order: np.ndarray) -> "ContextSizes":
        """The same where row i has the context of row ``order[i]``."""
        return replace(self, context=self.context[order])


@dataclass(frozen=True, eq=False)
class WindowParts:
    """Of a batch of B windows, besides what is a tensor on the device.

    Attributes:
        lines: (B,) lines of the current sentences, the batch's ``id``.
        current: B source sentences to translate.
        lengths: (B,) tokens of the source, the batch's ``src_lengths``.
        sentences: (B,) sentences before the current one in the target window, its ``target_context_sizes``.
        source: (B, 3) tokens of the source window before, of and after the current sentence; None where it is
            no window.
        target: (B, 3), of the target window; None without target sentences.
    """

    lines: np.ndarray
    current: Tuple[Tensor, ...]
    lengths: np.ndarray
    sentences: np.ndarray
    source: Optional[np.ndarray] = None
    target: Optional[np.ndarray] = None
