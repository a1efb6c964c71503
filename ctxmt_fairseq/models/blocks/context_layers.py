"""Transformer layers with attention to context, made of fairseq's sub-layers and ours.

They compute a row without context as fairseq does, whatever else is in the batch.
"""

from typing import Any, Callable, Optional

from fairseq.modules import LayerNorm, MultiheadAttention
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from torch import Tensor, nn

from ctxmt_fairseq.models.blocks.context_attention import ContextAttention, ContextReader, where_present
from ctxmt_fairseq.models.blocks.gates import GATES, SumGate

Combine = Callable[[Tensor, Tensor], Tensor]


class ContextLayer(ContextReader):
    """Sub-layers with residual connection, for encoder and decoder layers of fairseq.

    Attributes:
        gate: one of ``GATES``: "branch" is a gate on what comes from the context; "zhang" one on the residual
            connection of the context attention (Zhang et al. 2018), "next-sublayer" one on that of the next
            sub-layer (the thesis, section 5.2); "none".
    """

    context_attn_layer_norm: nn.Module
    context_attn: ContextAttention
    context_gate: Optional[nn.Module]
    gate: str

    def add_context_attention(self: Any, heads: int, cfg: Any, gate: str) -> None:
        """Make the context attention, to states as wide as the encoder's, and its gate."""
        self.context_attn = ContextAttention(
            self.embed_dim, heads, cfg.attention_dropout, cfg.encoder.embed_dim
        )
        self.gate = gate
        self.context_gate = GATES[gate](self.embed_dim)

    def sublayer(
        self: Any,
        x: Tensor,
        norm: nn.Module,
        function: Callable[[Tensor], Tensor],
        combine: Optional[Combine] = None,
    ) -> Tensor:
        """Put x (T, B, D) through a function, dropout, residual connection or ``combine``, layer norm."""
        residual = x
        if self.normalize_before:
            x = norm(x)
        x = self.dropout_module(function(x))
        x = (combine or self.residual_connection)(x, residual)
        return x if self.normalize_before else norm(x)

    def gated(self: Any, branch: Tensor) -> Tensor:
        """Put the context branch (T, B, D) through its gate; rows without context become zeros."""
        if self.gate == "branch":
            branch = self.context_gate(branch)
        return where_present(self.context.present, branch)

    def attend_context(self: Any, x: Tensor, incremental_state: Any = None) -> Tensor:
        """Compute the context branch (T, B, D)."""
        return self.gated(self.context_attn(x, self.context, incremental_state))

    def context_sublayer(self: Any, x: Tensor, incremental_state: Any = None) -> Tensor:
        """Attend to the context in a sub-layer of its own; rows without context stay as they are."""
        combine = self.context_gate if self.gate == "zhang" else None
        attended = self.sublayer(
            x, self.context_attn_layer_norm, lambda y: self.attend_context(y, incremental_state), combine
        )
        return where_present(self.context.present, attended, x)

    @property
    def combine_next(self: Any) -> Optional[Combine]:
        """How the sub-layer after context attention is joined with its input; None: as in fairseq."""
        if self.gate != "next-sublayer" or self.context is None:
            return None
        present = self.context.present

        def combine(sublayer: Tensor, residual: Tensor) -> Tensor:
            plain = self.residual_connection(sublayer, residual)
            return where_present(present, self.context_gate(sublayer, residual), plain)

        return combine

    def feed_forward(self: Any, x: Tensor) -> Tensor:
        return self.fc2(self.activation_dropout_module(self.activation_fn(self.fc1(x))))


class ContextEncoderLayer(ContextLayer, TransformerEncoderLayerBase):
    """Self-attention, context attention, feed-forward (Zhang et al. 2018; the thesis, equation 4.3)."""

    def __init__(self, cfg: Any, gate: str):
        super().__init__(cfg)
        self.add_context_attention(cfg.encoder.attention_heads, cfg, gate)
        self.context_attn_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)

    def forward(
        self, x: Tensor, encoder_padding_mask: Optional[Tensor], attn_mask: Optional[Tensor] = None
    ) -> Tensor:
        """As fairseq's ``forward``: (S, B, D) -> (S, B, D)."""
        x = self.sublayer(
            x,
            self.self_attn_layer_norm,
            lambda y: self.self_attn(
                y, y, y, key_padding_mask=encoder_padding_mask, need_weights=False, attn_mask=attn_mask
            )[0],
        )
        if self.context is not None:
            x = self.context_sublayer(x)
        return self.sublayer(x, self.final_layer_norm, self.feed_forward, self.combine_next)


class GatedSelfAttention(ContextReader, MultiheadAttention):
    """The gated sum of self-attention and context attention, which read the same input (Voita et al. 2018,
    section 3).

    The self-attention's parameters have fairseq's names, so those of a sentence-level model fit.
    """

    def __init__(self, embed_dim: int, heads: int, dropout: float, **options: Any):
        super().__init__(embed_dim, heads, dropout=dropout, self_attention=True, **options)
        self.context_attention = ContextAttention(embed_dim, heads, dropout)
        self.context_gate = SumGate(embed_dim)

    def forward(self, query: Tensor, *args: Any, **options: Any) -> Any:
        """As ``forward`` of fairseq's ``MultiheadAttention``."""
        attended, weights = super().forward(query, *args, **options)
        if self.context is None:
            return attended, weights
        gated = self.context_gate(attended, self.context_attention(query, self.context))
        return where_present(self.context.present, gated, attended), weights


class GatedContextEncoderLayer(TransformerEncoderLayerBase):
    """The last layer of Voita et al. 2018's source encoder: ``GatedSelfAttention``, feed-forward."""

    def build_self_attention(self, embed_dim: int, cfg: Any) -> nn.Module:
        noise = {"q_noise": self.quant_noise, "qn_block_size": self.quant_noise_block_size}
        return GatedSelfAttention(embed_dim, cfg.encoder.attention_heads, cfg.attention_dropout, **noise)
