"""Shortenings whose vectors are latent groups of tokens: grouping and selecting (Sequence Shortening for
Context-Aware Machine Translation, sections 4.1 and 4.2)."""

from typing import Callable, List, Optional, Tuple

import numpy as np
import torch
from entmax import sparsemax
from torch import Tensor, nn

from ctxmt_fairseq.models.blocks.pads import softmaxable, zero_pads
from ctxmt_fairseq.models.blocks.shortening import SHORTENINGS, AttentionBack, Shortening, Sized

ACTIVATIONS = {"sparsemax": sparsemax, "softmax": torch.softmax}
CATEGORISER_UNITS = 512  # appendix A


class Latent(Sized):
    """A network weighs every token for every group; K' = ``size``, the number of groups. A group's vector is
    the sum, not the mean, of its weighted tokens (equation 4); ``assignment`` computes the weights (equation
    3). The paper's models normalise them with sparsemax. ``title`` is that of a picture of the weights."""

    title: str

    def __init__(self, embed_dim: int, size: int, activation: str, attention: Callable[[], AttentionBack]):
        super().__init__(embed_dim, size, activation, attention)
        self.activation: Callable[..., Tensor] = ACTIVATIONS[activation]
        self.categoriser = nn.Sequential(
            nn.Linear(embed_dim, CATEGORISER_UNITS), nn.ReLU(), nn.Linear(CATEGORISER_UNITS, size)
        )

    def places(self, tokens: int) -> Optional[int]:
        return self.size

    def vectors(self, tokens: np.ndarray) -> np.ndarray:
        return np.where(tokens > 0, self.size, 0)

    def labels(self, tokens: List[str]) -> List[str]:
        return [f"group {number}" for number in range(1, self.size + 1)]

    def normalise(self, scores: Tensor, padding: Tensor) -> Tensor:
        """Turn ``scores`` (R, L, K') into weights, which may be any where ``padding`` (R, L) is true."""
        raise NotImplementedError

    def assignment(self, states: Tensor, padding: Tensor) -> Tensor:
        """The weights c (R, L, K') of ``states`` (R, L, D), equation 3, in float32: zero at the pads."""
        scores = self.categoriser(zero_pads(states, padding))
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        return zero_pads(self.normalise(scores, padding), padding)

    def aggregate(self, states: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        weights = self.assignment(states, padding).to(states.dtype)
        return weights.transpose(1, 2) @ states, padding.all(1, keepdim=True).expand(-1, weights.size(2))


@SHORTENINGS.register("group")
class Grouping(Latent):
    """Normalises the weights over the groups, so every token is assigned (section 4.1)."""

    description, title = "latent groups of tokens", "Tokens assigned to groups"
    defaults = {
        **Shortening.defaults,
        "shortening_size": 9,  # the paper's K for English-German, as for selecting
        "context_gradient_encoder": "yes",
        "context_gradient_sentences": 2,
    }

    def normalise(self, scores: Tensor, padding: Tensor) -> Tensor:
        return self.activation(scores, dim=2)


@SHORTENINGS.register("select")
class Selecting(Latent):
    """A group's weights sum to 1 over the sequence, and it may ignore a token (section 4.2)."""

    description, title = "tokens that latent groups select", "Tokens selected by groups"
    defaults = {
        **Shortening.defaults,
        "shortening_size": 10,
        "context_gradient_encoder": "yes",
        "context_gradient_sentences": 1,
    }

    def normalise(self, scores: Tensor, padding: Tensor) -> Tensor:
        hidden = softmaxable(padding).unsqueeze(-1)
        return self.activation(scores.masked_fill(hidden, -torch.inf), dim=1)
