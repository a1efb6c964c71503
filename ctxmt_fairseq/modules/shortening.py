"""Fewer vectors for a sentence: Sequence Shortening for Context-Aware Machine Translation, sections 3 and 4.

Every block maps the encoder's states H of R sentences, (R, L, D) with pads anywhere, to (R, K', D). What a
sentence becomes depends on nothing but its own real tokens: not on where its pads stand, not on other rows.
"""

from typing import Callable, Optional, Tuple

import torch
import torch.nn.functional as F
from entmax import sparsemax
from fairseq.modules import FairseqDropout, LayerNorm, MultiheadAttention
from torch import Tensor, nn

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.modules.pads import real_first

KINDS = ("none", "sentence", "mean", "max", "linear", "group", "select")
ACTIVATIONS = {"sparsemax": sparsemax, "softmax": torch.softmax}
CATEGORISER_UNITS = 512  # appendix A


def zero_pads(states: Tensor, padding: Tensor) -> Tensor:
    """``states`` (..., D) with zeros where ``padding`` (...) is true."""
    return states.masked_fill(padding.unsqueeze(-1), 0.0)


def real_mean(states: Tensor, padding: Tensor) -> Tensor:
    """Mean (..., D) of the real tokens of ``states`` (..., L, D), zero at the pads; zero if all are pads."""
    return states.sum(-2) / (~padding).sum(-1, keepdim=True).clamp(min=1)


def softmaxable(padding: Tensor) -> Tensor:
    """The pads (R, L) to leave out of a softmax over L: none in a row of pads alone, or it would give NaN."""
    return padding & ~padding.all(1, keepdim=True)


class AttentionBack(nn.Module):
    """Equation 2: G = LayerNorm(G~ + Attn(G~, H, H)), with dropout before the sum as in every sub-layer."""

    def __init__(self, embed_dim: int, heads: int, dropout: float = 0.0, attention_dropout: float = 0.0):
        super().__init__()
        self.attention = MultiheadAttention(
            embed_dim, heads, dropout=attention_dropout, encoder_decoder_attention=True
        )
        self.dropout = FairseqDropout(dropout, module_name=self.__class__.__name__)
        self.layer_norm = LayerNorm(embed_dim)

    def forward(self, shortened: Tensor, states: Tensor, padding: Tensor) -> Tensor:
        """G (R, K', D) of ``shortened``, G~ (R, K', D), and ``states``, H (R, L, D); ``padding`` (R, L)."""
        full = states.transpose(0, 1)
        attended, _ = self.attention(
            shortened.transpose(0, 1), full, full, key_padding_mask=softmaxable(padding), need_weights=False
        )
        return self.layer_norm(shortened + self.dropout(attended.transpose(0, 1)))


class Shortening(nn.Module):
    """A way of making G~ out of H, ``aggregate``, and ``attention`` from it back to H.

    Args:
        attention: equation 2; None: G~ is the result.
    """

    def __init__(self, attention: Optional[AttentionBack] = None):
        super().__init__()
        self.attention = attention

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """G~ (R, K', D), of any value where its padding (R, K') is true; ``states`` are zero at the pads."""
        raise NotImplementedError

    def forward(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """Shorten each row.

        Args:
            states: (R, L, D).
            padding: BoolTensor (R, L), true at pads, which may stand anywhere and fill a row.

        Returns:
            The shortened states (R, K', D), zero where their padding, BoolTensor (R, K'), is true; the pads
            come last in their row, and a row of pads gives a row of pads.
        """
        states = zero_pads(states, padding)
        shortened, absent = self.aggregate(states, padding)
        shortened = zero_pads(shortened, absent)
        if self.attention is not None:
            shortened = zero_pads(self.attention(shortened, states, padding), absent)
        return shortened, absent


class Tokens(Shortening):
    """``none``: the real tokens as they are, K' = L (section 5.2, caching tokens)."""

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        return real_first(states, padding)


class SentenceMean(Shortening):
    """``sentence``: the mean of the tokens, K' = 1 (section 4.3, simple aggregation)."""

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        return real_mean(states, padding).unsqueeze(1), padding.all(1, keepdim=True)


class Pooling(Shortening):
    """Equation 1: groups of ``size`` neighbours, from the first real token on, become one vector each.

    M real tokens make ceil(M / size) vectors; K' = ceil(L / size). ``pool`` says what becomes of a group.
    """

    def __init__(self, size: int, attention: AttentionBack):
        super().__init__(attention)
        self.size = size

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        tokens, padding = real_first(states, padding)
        missing = -tokens.size(1) % self.size
        groups = F.pad(tokens, (0, 0, 0, missing)).unflatten(1, (-1, self.size))
        padding = F.pad(padding, (0, missing), value=True).unflatten(1, (-1, self.size))
        return self.pool(groups, padding), padding.all(2)

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        """(R, K', D) of ``groups`` (R, K', size, D), zero at the pads, with ``padding`` (R, K', size)."""
        raise NotImplementedError


class MeanPooling(Pooling):
    """``mean`` (Dai et al. 2020)."""

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        return real_mean(groups, padding)


class MaxPooling(Pooling):
    """``max``, in each dimension of the vectors."""

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        return groups.masked_fill(padding.unsqueeze(-1), -torch.inf).amax(2)


class LinearPooling(Pooling):
    """``linear``: a linear map of the group's concatenated tokens, missing ones zero (Nawrot et al. 2022)."""

    def __init__(self, embed_dim: int, size: int, attention: AttentionBack):
        super().__init__(size, attention)
        self.linear = nn.Linear(size * embed_dim, embed_dim)

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        return self.linear(groups.flatten(2))


class Latent(Shortening):
    """``group`` and ``select``: a network weighs every token for every group; K' = ``groups``.

    Equation 4 sums a group's weighted tokens (a sum, not a mean); the weights are ``assignment``, equation 3.
    Grouping (section 4.1) normalises them over the groups, so that every token is assigned; selecting
    (section 4.2) over the sequence, so that a group's weights sum to 1 and a token may be ignored.

    Args:
        select: whether to select.
        activation: one of ``ACTIVATIONS``; the paper's models use sparsemax.
    """

    def __init__(self, embed_dim: int, groups: int, select: bool, activation: str, attention: AttentionBack):
        super().__init__(attention)
        self.select = select
        self.normalise: Callable[..., Tensor] = ACTIVATIONS[activation]
        self.categoriser = nn.Sequential(
            nn.Linear(embed_dim, CATEGORISER_UNITS), nn.ReLU(), nn.Linear(CATEGORISER_UNITS, groups)
        )

    def assignment(self, states: Tensor, padding: Tensor) -> Tensor:
        """Equation 3: weights c (R, L, K') of ``states`` (R, L, D); zero at the pads, at least float32."""
        scores = self.categoriser(zero_pads(states, padding))
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        if self.select:
            scores = scores.masked_fill(softmaxable(padding).unsqueeze(-1), -torch.inf)
        return zero_pads(self.normalise(scores, dim=1 if self.select else 2), padding)

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        weights = self.assignment(states, padding).to(states.dtype)
        return weights.transpose(1, 2) @ states, padding.all(1, keepdim=True).expand(-1, weights.size(2))


def build_shortening(
    kind: str,
    embed_dim: int,
    heads: int,
    *,
    size: int,
    activation: str = "sparsemax",
    dropout: float = 0.0,
    attention_dropout: float = 0.0,
) -> Shortening:
    """The block of one of ``KINDS``.

    Args:
        embed_dim: D. heads: of equation 2's attention.
        size: K: the tokens in a group of ``mean``, ``max``, ``linear``; the number of groups of ``group`` and
            ``select``; without meaning for the others.
        activation: how ``group`` and ``select`` normalise, one of ``ACTIVATIONS``.
        dropout: of equation 2's sub-layer. attention_dropout: of its attention weights.

    Raises:
        BadInput: no such kind, or a size below 1.
    """
    if kind not in KINDS:
        raise BadInput(f"a shortening is one of {', '.join(KINDS)}, found {kind!r}")
    if kind == "none":
        return Tokens()
    if kind == "sentence":
        return SentenceMean()
    if size < 1:
        raise BadInput(f"a shortening of kind {kind} needs a size of at least 1, found {size}")
    attention = AttentionBack(embed_dim, heads, dropout, attention_dropout)
    if kind == "mean":
        return MeanPooling(size, attention)
    if kind == "max":
        return MaxPooling(size, attention)
    if kind == "linear":
        return LinearPooling(embed_dim, size, attention)
    return Latent(embed_dim, size, kind == "select", activation, attention)
