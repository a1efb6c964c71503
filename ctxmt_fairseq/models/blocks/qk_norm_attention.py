"""Attention with normalised queries and keys (Henry et al. 2020), which MTCue's context encoder uses."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from torch import Tensor, nn


class UnitLinear(nn.Linear):
    """A linear layer that gives each head's part of a vector the length 1, in float32, lest it be 0 / 0."""

    heads = 1

    def forward(self, states: Tensor) -> Tensor:
        projected = super().forward(states)
        parts = projected.unflatten(-1, (self.heads, -1)).float()
        return F.normalize(parts, dim=-1).flatten(-2).type_as(projected)


class QKNormAttention(MultiheadAttention):
    """softmax(g Q K^T) V, where each head's queries and keys have length 1 and g is learned.

    No score exceeds g, however large the inputs are. Vectors of whole texts made the usual scores explode
    (MTCue, section 2.2).

    Args:
        length: L, the 97.5th percentile of the training data's lengths, at least 2; g starts at
            log2(L^2 - L) (Henry et al. 2020, equation 4).
        options: those of fairseq's ``MultiheadAttention``.
    """

    def __init__(self, embed_dim: int, heads: int, length: float, dropout: float = 0.0, **options: Any):
        super().__init__(embed_dim, heads, dropout=dropout, **options)
        self.qk_scale = nn.Parameter(torch.full((1,), math.log2(length**2 - length)))
        for projection in (self.q_proj, self.k_proj):
            projection.__class__, projection.heads = UnitLinear, heads
        self._set_skip_embed_dim_check()  # else torch's attention takes the weights, and not the layers

    @property
    def scaling(self) -> Tensor:
        """What fairseq multiplies queries by."""
        return self.qk_scale

    @scaling.setter
    def scaling(self, root: float) -> None:
        """fairseq's 1 / sqrt(D / heads) is not for vectors of length 1."""


class QKNormEncoderLayer(TransformerEncoderLayerBase):
    """fairseq's encoder layer with ``QKNormAttention``, whose L is ``cfg.contexts_per_sample``."""

    def build_self_attention(self, embed_dim: int, cfg: Any) -> nn.Module:
        return QKNormAttention(
            embed_dim,
            cfg.encoder.attention_heads,
            cfg.contexts_per_sample,
            dropout=cfg.attention_dropout,
            self_attention=True,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
        )


def normalise_attention(module: nn.Module, length: float) -> None:
    """Put ``QKNormAttention`` in the place of every attention within ``module``, which is new."""
    for parent in list(module.modules()):
        for name, attention in list(parent.named_children()):
            if type(attention) is MultiheadAttention:
                made = QKNormAttention(
                    attention.embed_dim,
                    attention.num_heads,
                    length,
                    dropout=attention.dropout_module.p,
                    kdim=attention.kdim,
                    vdim=attention.vdim,
                    self_attention=attention.self_attention,
                    encoder_decoder_attention=attention.encoder_decoder_attention,
                )
                setattr(parent, name, made)
