"""Position embeddings that tell which sentence of its window a token belongs to.

Source: focused concatenation (Lupo et al. 2022), sections 3.2 and 4.6.2; the kind ``flag`` is that of the
concatenation baseline of Voita et al. (2018).
"""

import math
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any, Callable, Iterator, Optional

import torch
import torch.nn.functional as F
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor, nn

KINDS = ("none", "shift", "restart", "learned", "sinusoidal", "flag")


def stock_name(name: str) -> str:
    """The name of a parameter in a model that has no ``SegmentPositions`` around its token positions."""
    return name.replace(".embed_positions.token_positions.", ".embed_positions.")


def segment_index(tokens: Tensor, separator: int, last: bool = False, opens: bool = False) -> Tensor:
    """The index k, from 0, of the sentence that each token belongs to: the number of separators before it, or
    with ``opens`` up to it. (B, T) token ids -> LongTensor (B, T), or (B, 1) for the ``last`` alone."""
    ends = tokens.eq(separator)
    return _count(ends, last) if opens else _count(ends, last) - (ends[:, -1:] if last else ends).long()


def _count(flags: Tensor, last: bool) -> Tensor:
    """Count the flags (B, T) that are true up to each place, (B, T), or up to the ``last`` alone, (B, 1)."""
    return flags.sum(1, keepdim=True) if last else flags.cumsum(1)


def average_sentence_length(tokens: Tensor, separator: int, padding_idx: int) -> Tensor:
    """The shift of ``avg-sequence``: ceil(tokens without pads / sentences) of each row, (B, T) -> (B,)."""
    sentences = tokens.eq(separator).sum(1) + 1
    return (tokens.ne(padding_idx).sum(1) + sentences - 1) // sentences


class SegmentPositions(nn.Module):
    """Embeds the token positions t and the segments k of a window, in the place of fairseq's
    ``embed_positions``.

    ``none``: fairseq's token positions. ``shift``: t' = t + k * shift (section 3.2). ``learned`` and
    ``sinusoidal``: an embedding of k is added to that of t (section 4.6.2). ``restart``: as ``learned``, with
    t from the beginning of the sentence, so that positions are those of single sentences (not of the papers).
    ``flag``: a learned embedding says whether the token is outside a span of its row, with or without
    separators. Positions t leave pads out, so pads may be anywhere; a pad's embedding is zero.

    Args:
        token_positions: fairseq's sinusoidal or learned positional embedding; None: no token positions.
        embedding_dim: C.
        padding_idx: the id of the pad.
        separator: the id of the symbol that ends every sentence but the last; -1: there is none.
        kind: one of ``KINDS``.
        shift: the constant of ``shift``; None: each row has its own, see ``given``.
        opens: for ``restart``, whether a separator is the first token of the next sentence, as </s> is of a
            decoder's input, and not the last one of its own.
        rows: the size of the learned table, of which larger k share the last row; a flag has two. One more
            row, for pads, is always zero.
        relative: if given, k becomes ``relative(k, row value, position)``, see ``given``; positions count
            from 1.
    """

    def __init__(
        self,
        token_positions: Optional[nn.Module],
        embedding_dim: int,
        padding_idx: int,
        separator: int = -1,
        kind: str = "none",
        shift: Optional[int] = 0,
        opens: bool = False,
        rows: int = 32,
        relative: Optional[Callable[[Tensor, Tensor, Tensor], Tensor]] = None,
    ):
        super().__init__()
        self.token_positions = token_positions
        self.padding_idx = padding_idx
        self.separator = separator
        self.kind = "none" if kind == "shift" and shift == 0 else kind
        self.shift, self.opens = shift, opens
        self.relative = relative
        self.needs_row_values = relative is not None or kind == "flag" or (kind == "shift" and shift is None)
        self.row_values: Optional[Tensor] = None
        self.max_positions = int(1e5) if token_positions is None else token_positions.max_positions

        # No buffer, because in half precision positions far from the start would get the same angles.
        self._frequencies, self._first = torch.empty(0), getattr(token_positions, "first", 0)
        if self.kind == "shift":
            self._frequencies = getattr(token_positions, "frequencies", _frequencies)(embedding_dim)

        # Row 0 of a segment table is the pads' zero vector, row k + 1 belongs to segment k.
        self.segment_table: Optional[nn.Module] = None
        if kind in ("restart", "learned", "flag"):
            rows = 2 if kind == "flag" else rows
            self.segment_table = nn.Embedding(rows + 1, embedding_dim, padding_idx=0)
            nn.init.normal_(self.segment_table.weight[1:], mean=0, std=embedding_dim**-0.5)
        elif kind == "sinusoidal":
            self.segment_table = SinusoidalPositionalEmbedding(
                embedding_dim, padding_idx=0, init_size=rows + 1
            )

    @contextmanager
    def given(self, row_values: Tensor) -> Iterator[None]:
        """Give calls in the block a number for each row (B,): its shift, or the index of its current
        sentence. For ``flag`` give (B, 2): the first token of the current sentence and the first one after
        it, without pads.

        This is necessary because fairseq passes nothing but tokens to ``embed_positions``.
        """
        self.row_values = row_values
        try:
            yield
        finally:
            self.row_values = None

    def forward(self, tokens: Tensor, incremental_state: Optional[Any] = None) -> Tensor:
        """Embed ``tokens`` (B, T): (B, T, C), or with ``incremental_state`` the last one alone, (B, 1, C)."""
        if self.kind == "none" and incremental_state is None:
            return self.token_positions(tokens)  # type: ignore[misc]
        real, last = tokens.ne(self.padding_idx), incremental_state is not None
        positions, places = _count(real, last), self.places(tokens, last)
        if last:
            real = real[:, -1:]
        if self.kind == "shift":
            return self._sinusoids(places + self.padding_idx) * real.unsqueeze(2)
        if self.kind == "restart":
            positions = positions - self._starts(tokens, last)
        length = tokens.size(1)
        lookups = (
            (self.token_positions, positions * real + self.padding_idx, length + self.padding_idx),
            (self.segment_table, (places + 1) * real, length),
        )
        return reduce(
            add, (_look_up(table, index, most) for table, index, most in lookups if table is not None)
        )

    def places(self, tokens: Tensor, last: bool = False) -> Tensor:
        """What tells sentences apart besides the token's position (B, T), from 0, or of the last token alone,
        (B, 1): the shifted position or the row of ``places_table``; pads have any number."""
        segments = self._segments(tokens, last)
        if self.kind != "shift":
            return segments
        shift = self._row_values() if self.shift is None else self.shift
        return _count(tokens.ne(self.padding_idx), last) + segments * shift

    def places_table(self, rows: int) -> Tensor:
        """What is embedded at so many places, (rows, C) or fewer."""
        if self.kind == "shift":
            return self._sinusoids(torch.arange(rows)[None] + self.padding_idx)[0]
        table = self.segment_table
        weights = table.weight if isinstance(table, nn.Embedding) else table.weights  # type: ignore[union-attr]
        return weights[1 : rows + 1]

    def _sinusoids(self, index: Tensor) -> Tensor:
        """Compute what fairseq's table would have in its rows ``index`` (B, T), to the last bit: (B, T, C).

        A table would have to grow to the farthest shifted position, which only the device knows.
        """
        table = self.token_positions
        self._frequencies = self._frequencies.to(index.device)
        angles = (index - self._first).unsqueeze(2) * self._frequencies
        sinusoids = torch.cat([angles.sin(), angles.cos()], dim=2)
        if table.embedding_dim % 2:  # type: ignore[union-attr]
            sinusoids = F.pad(sinusoids, (0, 1))
        return sinusoids.to(table.weights.dtype)  # type: ignore[union-attr]

    def _segments(self, tokens: Tensor, last: bool) -> Tensor:
        if self.kind == "flag":
            first, end = self._row_values().unbind(2)
            places = _count(tokens.ne(self.padding_idx), last) - 1
            return ((places < first) | (places >= end)).long()
        segments = segment_index(tokens, self.separator, last, self.opens)
        if self.relative is not None:
            positions = _count(tokens.ne(self.padding_idx), last)
            segments = self.relative(segments, self._row_values(), positions).long()
        if isinstance(self.segment_table, nn.Embedding):
            return segments.clamp(max=self.segment_table.num_embeddings - 2)
        return segments

    def _starts(self, tokens: Tensor, last: bool) -> Tensor:
        """Count the real tokens before the sentence of a token: (B, T), or (B, 1) for the last alone."""
        counts = _count(tokens.ne(self.padding_idx), last=False)
        starts = (counts - int(self.opens)) * tokens.eq(self.separator)
        if not self.opens:
            starts = F.pad(starts, (1, 0))[:, :-1]
        return starts.amax(1, keepdim=True) if last else starts.cummax(1).values

    def _row_values(self) -> Tensor:
        if self.row_values is None:
            raise RuntimeError(
                "these segment positions need a value per row: call them inside given(row_values)"
            )
        return self.row_values.unsqueeze(1)


def _frequencies(embedding_dim: int) -> Tensor:
    """The frequencies of fairseq's sinusoidal positions, (C // 2,) float32."""
    half = embedding_dim // 2
    return torch.exp(torch.arange(half, dtype=torch.float) * -(math.log(10000) / (half - 1)))


def _look_up(table: nn.Module, index: Tensor, most: int) -> Tensor:
    """Take rows ``index`` of one of fairseq's position tables. A sinusoidal one grows until it has row
    ``most``, the greatest that so many tokens can have: the host would have to wait for a GPU to read the
    index itself."""
    if not isinstance(table, SinusoidalPositionalEmbedding):
        return F.embedding(index, table.weight, table.padding_idx)
    size = table.weights.size(0)
    if most >= size:
        # At least twice the size, so that a long incremental decoding does not rebuild it at every step.
        grown = table.get_embedding(max(most + 1, 2 * size), table.embedding_dim, table.padding_idx)
        table.weights = grown.to(table.weights)
    return F.embedding(index, table.weights)
