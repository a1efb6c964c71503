"""Blocks that turn a sentence into fewer vectors: Sequence Shortening for Context-Aware Machine Translation,
sections 3 and 4.

Every block maps the encoder's states H of R sentences, (R, L, D) with pads anywhere, to (R, K', D). The
result depends on nothing but the sentence's own real tokens: not on where its pads are, not on other rows.
"""

from typing import Any, Callable, Dict, List, Optional, Tuple, Type

import numpy as np
import torch
import torch.nn.functional as F
from fairseq.modules import FairseqDropout, LayerNorm, MultiheadAttention
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.registry import Registry
from ctxmt_fairseq.models.blocks.pads import real_first, real_mean, softmaxable, zero_pads


class AttentionBack(nn.Module):
    """Equation 2: G = LayerNorm(G~ + Attn(G~, H, H)), with dropout before the sum, as in every sub-layer."""

    def __init__(self, embed_dim: int, heads: int, dropout: float = 0.0, attention_dropout: float = 0.0):
        super().__init__()
        self.attention = MultiheadAttention(
            embed_dim, heads, dropout=attention_dropout, encoder_decoder_attention=True
        )
        self.dropout = FairseqDropout(dropout, module_name=self.__class__.__name__)
        self.layer_norm = LayerNorm(embed_dim)

    def forward(self, shortened: Tensor, states: Tensor, padding: Tensor) -> Tensor:
        """Compute G (R, K', D) from G~ (R, K', D), ``states`` H (R, L, D) and their ``padding`` (R, L)."""
        full = states.transpose(0, 1)
        attended, _ = self.attention(
            shortened.transpose(0, 1), full, full, key_padding_mask=softmaxable(padding), need_weights=False
        )
        return self.layer_norm(shortened + self.dropout(attended.transpose(0, 1)))


class Shortening(nn.Module):
    """Makes G~ out of H (``aggregate``), and may attend from it back to H (``attention``). A registered class
    is a value of ``--shortening``.

    Args (a registered class is made with them; the base needs none):
        embed_dim: D.
        size: ``--shortening-size``, K.
        activation: ``--shortening-activation``, one of ``latent_groups.ACTIVATIONS``.
        attention: makes equation 2's block; a class whose result is G~ does not call it.

    Attributes:
        description: for ``--help``.
        defaults: those of the options of ``caching_transformer`` (section 5.2).
        sized: whether the size means anything.
        keeps_tokens: whether the vectors are the tokens' states.
    """

    description: str
    defaults: Dict[str, Any] = {
        "shortening_size": 2,
        "shortening_activation": "sparsemax",
        "current_in_context": "yes",
        "context_gradient_encoder": "no",
        "context_gradient_sentences": -1,
        "context_fusion": "serial",
        "context_gate": "none",
    }
    sized = False
    keeps_tokens = False

    def __init__(self, *arguments: Any):
        super().__init__()
        self.attention: Optional[AttentionBack] = None

    def places(self, tokens: int) -> Optional[int]:
        """How many vectors a sentence of so many tokens becomes; None: their places have no meaning."""
        return None

    def vectors(self, tokens: np.ndarray) -> Optional[np.ndarray]:
        """How many vectors sentences of so many tokens become, 0 for 0 tokens; None: only the device knows,
        and the host waits for it."""
        return None

    def labels(self, tokens: List[str]) -> List[str]:
        """Name the vectors that a sentence of these tokens becomes."""
        return tokens

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """Return G~ (R, K', D) and its padding (R, K'), where G~ may be any. ``states`` are zero at pads."""
        raise NotImplementedError

    def forward(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """Shorten each row.

        Args:
            states: (R, L, D).
            padding: BoolTensor (R, L), true at pads, which may be anywhere and fill a row.

        Returns:
            the shortened states (R, K', D), zero where their padding, BoolTensor (R, K'), is true. The pads
            come last in their row, and a row of pads gives a row of pads.
        """
        states = zero_pads(states, padding)
        shortened, absent = self.aggregate(states, padding)
        shortened = zero_pads(shortened, absent)
        if self.attention is not None:
            shortened = zero_pads(self.attention(shortened, states, padding), absent)
        return shortened, absent


SHORTENINGS: Registry[Type[Shortening]] = Registry("a shortening")


@SHORTENINGS.register("none")
class Tokens(Shortening):
    """The real tokens as they are, K' = L (section 5.2, caching tokens)."""

    description = "all tokens"
    defaults = {**Shortening.defaults, "current_in_context": "no"}
    keeps_tokens = True

    def vectors(self, tokens: np.ndarray) -> np.ndarray:
        return tokens

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        return real_first(states, padding)


@SHORTENINGS.register("sentence")
class SentenceMean(Shortening):
    """The mean of the tokens, K' = 1 (section 4.3, simple aggregation)."""

    description = "their mean"
    defaults = {**Shortening.defaults, "context_fusion": "separate", "context_gate": "branch"}

    def vectors(self, tokens: np.ndarray) -> np.ndarray:
        return np.minimum(tokens, 1)

    def labels(self, tokens: List[str]) -> List[str]:
        return ["mean"]

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        return real_mean(states, padding).unsqueeze(1), padding.all(1, keepdim=True)


class Sized(Shortening):
    """Base of those with a size, and attention back to all tokens."""

    sized = True

    def __init__(self, embed_dim: int, size: int, activation: str, attention: Callable[[], AttentionBack]):
        super().__init__(embed_dim, size, activation, attention)
        self.attention = attention()
        self.size = size


class Pooling(Sized):
    """Equation 1: groups of ``size`` neighbours, from the first real token on, become one vector each.

    M real tokens make ceil(M / size) vectors; K' = ceil(L / size). ``pool`` says what becomes of a group.

    Attributes:
        filled: whether zeros fill a last group of fewer tokens, as in the authors' program, where its mean is
            over ``size`` vectors, and its maximum at least 0.
    """

    filled = False

    def places(self, tokens: int) -> Optional[int]:
        return -(-tokens // self.size)

    def vectors(self, tokens: np.ndarray) -> np.ndarray:
        return -(-tokens // self.size)

    def labels(self, tokens: List[str]) -> List[str]:
        return [" ".join(tokens[at : at + self.size]) for at in range(0, len(tokens), self.size)]

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        tokens, padding = real_first(states, padding)
        missing = -tokens.size(1) % self.size
        groups = F.pad(tokens, (0, 0, 0, missing)).unflatten(1, (-1, self.size))
        padding = F.pad(padding, (0, missing), value=True).unflatten(1, (-1, self.size))
        absent = padding.all(2)
        return self.pool(groups, absent[..., None].expand_as(padding) if self.filled else padding), absent

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        """Turn ``groups`` (R, K', size, D), zero at their ``padding`` (R, K', size), into (R, K', D)."""
        raise NotImplementedError


@SHORTENINGS.register("mean")
class MeanPooling(Pooling):
    """The mean of neighbours (Dai et al. 2020)."""

    description = "the mean of neighbours"

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        return real_mean(groups, padding)


@SHORTENINGS.register("max")
class MaxPooling(Pooling):
    """The maximum of neighbours, in each dimension of the vectors."""

    description = "their maximum"

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        return groups.masked_fill(padding.unsqueeze(-1), -torch.inf).amax(2)


@SHORTENINGS.register("linear")
class LinearPooling(Pooling):
    """A linear map of a group's concatenated tokens; missing tokens are zero (Nawrot et al. 2022)."""

    description = "a linear map of them"

    def __init__(self, embed_dim: int, size: int, activation: str, attention: Callable[[], AttentionBack]):
        super().__init__(embed_dim, size, activation, attention)
        self.linear = nn.Linear(size * embed_dim, embed_dim)

    def pool(self, groups: Tensor, padding: Tensor) -> Tensor:
        return self.linear(groups.flatten(2))


def build_shortening(
    kind: str,
    embed_dim: int,
    heads: int,
    *,
    size: int,
    activation: str = "sparsemax",
    dropout: float = 0.0,
    attention_dropout: float = 0.0,
    filled: bool = False,
) -> Shortening:
    """Make the block of one of ``SHORTENINGS``.

    Args:
        embed_dim: D. heads: those of equation 2's attention.
        size: K, the number of tokens that are pooled, or of latent groups.
        activation: how latent groups normalise their weights, one of ``latent_groups.ACTIVATIONS``.
        dropout: that of equation 2's sub-layer. attention_dropout: that of its attention weights.
        filled: see ``Pooling``; the others have no groups to fill.
    """
    chosen = SHORTENINGS[kind]
    if chosen.sized and size < 1:
        raise BadInput(f"--shortening-size {size}: --shortening {kind} needs 1 or more")
    made = chosen(
        embed_dim, size, activation, lambda: AttentionBack(embed_dim, heads, dropout, attention_dropout)
    )
    if isinstance(made, Pooling):
        made.filled = filled
    return made
