"""Attention to context: safe for rows that have none, in any batch."""

import contextlib
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import numpy as np
import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn

from ctxmt_fairseq.modules.pads import real_first


class ContextStates(NamedTuple):
    """What the context encoder made of a batch's context.

    Attributes:
        states: (B, K, D).
        padding: BoolTensor (B, K), True where there is nothing; a row without context is True everywhere.
        counts: (B,) how many of a row's are real, on the host; None: it is read from the padding where it is
            needed, for which a GPU is waited for.
    """

    states: Tensor
    padding: Tensor
    counts: Optional[np.ndarray] = None

    @property
    def present(self) -> Tensor:
        """BoolTensor (B,): the rows that have context."""
        return ~self.padding.all(dim=1)

    def compact(self) -> "ContextStates":
        """The same without the pads between sentences: K as the longest row needs it.

        Every layer of a decoder projects these states, and every step of a search attends to them.
        """
        counts = (~self.padding).sum(dim=1) if self.counts is None else self.counts
        width = max(1, int(counts.max()))
        if width == self.padding.size(1):
            return self
        return ContextStates(*real_first(self.states, self.padding, width), self.counts)

    def of_rows(self, rows: slice) -> "ContextStates":
        """Of some rows, K as the longest of them needs it if that is known."""
        if self.counts is None:
            return ContextStates(self.states[rows], self.padding[rows])
        return ContextStates(self.states[rows], self.padding[rows], self.counts[rows]).compact()

    def entries(self) -> Dict[str, List[Tensor]]:
        """As entries of ``encoder_out``."""
        return {"context_states": [self.states], "context_padding": [self.padding]}

    @classmethod
    def of(cls, encoder_out: Optional[Dict[str, List[Tensor]]]) -> Optional["ContextStates"]:
        """The reverse of ``entries``; None where there are none."""
        if not encoder_out or not encoder_out.get("context_states"):
            return None
        return cls(encoder_out["context_states"][0], encoder_out["context_padding"][0])


class ContextReader:
    """A module whose ``forward`` reads ``self.context``: fairseq's layers take no further inputs."""

    context: Optional[ContextStates] = None


@contextlib.contextmanager
def given_context(module: nn.Module, context: Optional[ContextStates]) -> Iterator[None]:
    """Let every ``ContextReader`` within ``module`` read ``context`` meanwhile."""
    if context is None:  # what they read outside of this
        yield
        return
    readers = [reader for reader in module.modules() if isinstance(reader, ContextReader)]
    for reader in readers:
        reader.context = context
    try:
        yield
    finally:
        for reader in readers:
            reader.context = None


class ContextAttention(nn.Module):
    """Multi-head attention to ``ContextStates``.

    Args:
        context_dim: width of the context states; default: ``embed_dim``.
    """

    def __init__(self, embed_dim: int, heads: int, dropout: float = 0.0, context_dim: Optional[int] = None):
        super().__init__()
        self.attention = MultiheadAttention(
            embed_dim,
            heads,
            kdim=context_dim,
            vdim=context_dim,
            dropout=dropout,
            encoder_decoder_attention=True,
        )

    def forward(
        self, query: Tensor, context: ContextStates, incremental_state: Optional[Dict[str, Any]] = None
    ) -> Tensor:
        """(T, B, D) -> (T, B, D); zeros in rows that have no context."""
        present = context.present
        states = context.states.transpose(0, 1)
        attended, _ = self.attention(
            query,
            states,
            states,
            key_padding_mask=context.padding & present[:, None],  # a row of pads alone would give NaN
            incremental_state=incremental_state,
            static_kv=incremental_state is not None,
            need_weights=False,
        )
        return where_present(present, attended)


def where_present(present: Tensor, values: Tensor, otherwise: Optional[Tensor] = None) -> Tensor:
    """``values`` (T, B, D) in the rows ``present`` (B,), ``otherwise`` (default: zeros) in the others."""
    if otherwise is None:
        return values.masked_fill(~present[None, :, None], 0)
    return torch.where(present[None, :, None], values, otherwise)
