"""Self-attention with normalised queries and keys (Henry et al. 2020), which MTCue's context encoder uses."""

import math
from typing import Any, Optional, Tuple

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from torch import Tensor, nn


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
        super().__init__(embed_dim, heads, dropout=dropout, self_attention=True, **options)
        self.qk_scale = nn.Parameter(torch.full((1,), math.log2(length**2 - length)))

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = False,
        attn_mask: None = None,
    ) -> Tuple[Tensor, None]:
        """Attend, (K, B, D) -> (K, B, D), without weights. This supports what fairseq's encoder layer asks
        for.

        Args:
            key_padding_mask: BoolTensor (B, K), True at pads; no row may be of pads alone.
            need_weights, attn_mask: always False and None.
        """
        queries = self._unit(self.q_proj(query))
        keys, values = self._unit(self.k_proj(key)), self._heads(self.v_proj(value))
        dropped = self.training or self.dropout_module.apply_during_inference
        attended = F.scaled_dot_product_attention(
            (self.qk_scale * queries).type_as(values),
            keys.type_as(values),
            values,
            None if key_padding_mask is None else ~key_padding_mask[:, None, None],
            dropout_p=self.dropout_module.p if dropped else 0.0,
            scale=1.0,
        )
        return self.out_proj(attended.permute(2, 0, 1, 3).flatten(2)), None

    def _heads(self, projected: Tensor) -> Tensor:
        """(K, B, D) -> (B, heads, K, D / heads)."""
        return projected.unflatten(2, (self.num_heads, -1)).permute(1, 2, 0, 3)

    def _unit(self, projected: Tensor) -> Tensor:
        """Give each head's part of a vector the length 1. In half precision this could be 0 / 0, so it is
        done in float32."""
        return F.normalize(self._heads(projected).float(), dim=-1)


class QKNormEncoderLayer(TransformerEncoderLayerBase):
    """fairseq's encoder layer with ``QKNormAttention``.

    Args:
        cfg: fairseq's, with L as ``contexts_per_sample``.
    """

    def build_self_attention(self, embed_dim: int, cfg: Any) -> nn.Module:
        return QKNormAttention(
            embed_dim,
            cfg.encoder.attention_heads,
            cfg.contexts_per_sample,
            dropout=cfg.attention_dropout,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
        )
