"""Attention to context, for batches in which some rows have none."""

import contextlib
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import numpy as np
import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn

from ctxmt_fairseq.models.blocks.pads import real_first, softmaxable


class ContextStates(NamedTuple):
    """A batch's context, encoded.

    Attributes:
        states: (B, K, D).
        padding: BoolTensor (B, K), True where there is nothing; a row without context is True everywhere.
        counts: (B,) the number of real states of each row, on the host; None: it is read from the padding
            when it is needed, and then the host waits for the GPU.
    """

    states: Tensor
    padding: Tensor
    counts: Optional[np.ndarray] = None

    @property
    def present(self) -> Tensor:
        """BoolTensor (B,): the rows that have context."""
        return ~self.padding.all(dim=1)

    def compact(self) -> "ContextStates":
        """Drop the pads between sentences; K becomes what the longest row needs.

        This saves time because every decoder layer projects these states, and every step of a search attends
        to them.
        """
        counts = (~self.padding).sum(dim=1) if self.counts is None else self.counts
        width = max(1, int(counts.max()))
        if width == self.padding.size(1):
            return self
        return ContextStates(*real_first(self.states, self.padding, width), self.counts)

    def of_rows(self, rows: slice) -> "ContextStates":
        """Take some rows; K becomes what the longest of them needs, if ``counts`` are known."""
        if self.counts is None:
            return ContextStates(self.states[rows], self.padding[rows])
        return ContextStates(self.states[rows], self.padding[rows], self.counts[rows]).compact()

    def entries(self) -> Dict[str, List[Tensor]]:
        """Make entries of ``encoder_out``."""
        return {"context_states": [self.states], "context_padding": [self.padding]}

    @classmethod
    def of(cls, encoder_out: Optional[Dict[str, List[Tensor]]]) -> Optional["ContextStates"]:
        """Read what ``entries`` has made; None: there is nothing."""
        if not encoder_out or not encoder_out.get("context_states"):
            return None
        return cls(encoder_out["context_states"][0], encoder_out["context_padding"][0])


class ContextReader:
    """A module whose ``forward`` reads ``self.context``: fairseq gives its layers no further inputs."""

    context: Optional[ContextStates] = None


@contextlib.contextmanager
def given_context(module: nn.Module, context: Optional[ContextStates]) -> Iterator[None]:
    """Have every ``ContextReader`` within ``module`` read ``context`` in the block."""
    if context is None:  # they read None outside of the block, too
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
    """Multi-head attention to ``ContextStates``, whose width is ``context_dim`` (None: ``embed_dim``)."""

    def __init__(self, embed_dim: int, heads: int, dropout: float = 0.0, context_dim: Optional[int] = None):
        super().__init__()
        options = dict(kdim=context_dim, vdim=context_dim, encoder_decoder_attention=True)
        self.attention = MultiheadAttention(embed_dim, heads, dropout=dropout, **options)

    def forward(
        self, query: Tensor, context: ContextStates, incremental_state: Optional[Dict[str, Any]] = None
    ) -> Tensor:
        """Attend, (T, B, D) -> (T, B, D), with zeros in rows that have no context."""
        states = context.states.transpose(0, 1)
        attended, _ = self.attention(
            query,
            states,
            states,
            key_padding_mask=softmaxable(context.padding),
            incremental_state=incremental_state,
            static_kv=incremental_state is not None,
            need_weights=False,
        )
        return where_present(context.present, attended)


def where_present(present: Tensor, values: Tensor, otherwise: Optional[Tensor] = None) -> Tensor:
    """Take ``values`` (T, B, D) in the rows ``present`` (B,), elsewhere ``otherwise``, or zeros."""
    if otherwise is None:
        return values.masked_fill(~present[None, :, None], 0)
    return torch.where(present[None, :, None], values, otherwise)
