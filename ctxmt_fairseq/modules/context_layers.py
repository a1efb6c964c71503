"""Transformer layers with attention to context, composed of fairseq's sub-layers and ours.

Rows without context are computed as fairseq computes them, whatever else is in the batch.
"""

from typing import Any, Callable, Dict, List, Optional

import torch
from fairseq.modules import LayerNorm, MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor, nn

from ctxmt_fairseq.modules.context_attention import ContextAttention, ContextReader, where_present
from ctxmt_fairseq.modules.gates import BranchGate, ResidualGate, SumGate

FUSIONS = ("serial", "parallel", "separate", "hierarchical", "flat", "concat")
LAYER_FUSIONS = FUSIONS[:4]  # the others join the states before the decoder, whose layers stay fairseq's
GATES = ("none", "branch", "thesis", "zhang")
Combine = Callable[[Tensor, Tensor], Tensor]


class _ContextLayer(ContextReader):
    """Sub-layers with residual connection, shared by encoder and decoder layers of fairseq."""

    context_attn_layer_norm: nn.Module
    context_attn: ContextAttention
    context_gate: Optional[nn.Module]
    gate: str

    def add_context_attention(self, embed_dim: int, heads: int, dropout: float, gate: str) -> None:
        """Make the context attention and its gate."""
        self.context_attn = ContextAttention(embed_dim, heads, dropout)
        self.gate = gate
        self.context_gate = None
        if gate == "branch":
            self.context_gate = BranchGate(embed_dim)
        elif gate != "none":
            self.context_gate = ResidualGate(embed_dim, "sublayer" if gate == "thesis" else "input")

    def sublayer(
        self: Any,
        x: Tensor,
        norm: nn.Module,
        function: Callable[[Tensor], Tensor],
        combine: Optional[Combine] = None,
    ) -> Tensor:
        """x (T, B, D) through a function, dropout, residual connection (or ``combine``) and layer norm."""
        residual = x
        if self.normalize_before:
            x = norm(x)
        x = self.dropout_module(function(x))
        x = (combine or self.residual_connection)(x, residual)
        return x if self.normalize_before else norm(x)

    def gated(self: Any, branch: Tensor) -> Tensor:
        """The context branch (T, B, D) through its gate; zeros in rows that have no context."""
        if self.gate == "branch":
            branch = self.context_gate(branch)
        return where_present(self.context.present, branch)

    def attend_context(self: Any, x: Tensor, incremental_state: Any = None) -> Tensor:
        """The context branch (T, B, D)."""
        return self.gated(self.context_attn(x, self.context, incremental_state))

    def context_sublayer(self: Any, x: Tensor, incremental_state: Any = None) -> Tensor:
        """Context attention as a sub-layer of its own; rows without context pass it by."""
        combine = self.context_gate if self.gate == "zhang" else None
        attended = self.sublayer(
            x, self.context_attn_layer_norm, lambda y: self.attend_context(y, incremental_state), combine
        )
        return where_present(self.context.present, attended, x)

    @property
    def combine_next(self: Any) -> Optional[Combine]:
        """How the sub-layer after context attention joins its input: the thesis gates that one."""
        if self.gate != "thesis" or self.context is None:
            return None
        present = self.context.present

        def combine(sublayer: Tensor, residual: Tensor) -> Tensor:
            plain = self.residual_connection(sublayer, residual)
            return where_present(present, self.context_gate(sublayer, residual), plain)

        return combine

    def feed_forward(self: Any, x: Tensor) -> Tensor:
        return self.fc2(self.activation_dropout_module(self.activation_fn(self.fc1(x))))


class ContextEncoderLayer(_ContextLayer, TransformerEncoderLayerBase):
    """Self-attention, context attention, feed-forward (Zhang et al. 2018; the thesis, equation 4.3).

    Args:
        gate: "thesis" on the feed-forward's residual, "zhang" on the context attention's, or "none".
    """

    def __init__(self, cfg: Any, gate: str):
        super().__init__(cfg)
        self.add_context_attention(self.embed_dim, cfg.encoder.attention_heads, cfg.attention_dropout, gate)
        self.context_attn_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)

    def forward(
        self, x: Tensor, encoder_padding_mask: Optional[Tensor], attn_mask: Optional[Tensor] = None
    ) -> Tensor:
        """As fairseq's: (S, B, D) -> (S, B, D)."""
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
    """Self-attention and context attention on the same input, joined by a gated sum (Voita et al. 2018,
    section 3).

    The self-attention's parameters have fairseq's names, so that a sentence-level model's fit.
    """

    def __init__(self, embed_dim: int, heads: int, dropout: float, **options: Any):
        super().__init__(embed_dim, heads, dropout=dropout, self_attention=True, **options)
        self.context_attention = ContextAttention(embed_dim, heads, dropout)
        self.context_gate = SumGate(embed_dim)

    def forward(self, query: Tensor, *args: Any, **options: Any) -> Any:
        """As fairseq's ``MultiheadAttention``."""
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


class ContextDecoderLayer(_ContextLayer, TransformerDecoderLayerBase):
    """A decoder layer that attends to source and context.

    Args:
        fusion: Libovicky et al. 2018: "serial" (two sub-layers), "parallel" (the sum of both in one
            sub-layer) or "hierarchical" (a second attention over the two results); or "separate" (sequence
            shortening, section 5.2): two branches from the self-attention's output a, each with residual
            connection and layer norm of its own, out = LN(a + SourceAttn(a)) + g LN(a + ContextAttn(a)) with
            the gate g; rows without context have the first summand alone. With ``normalize_before``, of which
            the paper says nothing, a counts once: out = a + SourceAttn(LN(a)) + g ContextAttn(LN(a)).
        gate: "branch" on what comes from the context (sequence shortening, equation 5): the attention's
            output, with separate fusion the branch; with serial fusion also "thesis" on the residual of the
            sub-layer after context attention, or "zhang" on its own; or "none".
        context_first: serial fusion only: context attention before source attention (the thesis' code).
    """

    def __init__(self, cfg: Any, fusion: str = "serial", gate: str = "none", context_first: bool = False):
        super().__init__(cfg)
        heads, dropout = cfg.decoder.attention_heads, cfg.attention_dropout
        self.add_context_attention(self.embed_dim, heads, dropout, gate)
        self.fusion, self.context_first = fusion, context_first
        if fusion in ("serial", "separate"):
            self.context_attn_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)
        elif fusion == "hierarchical":
            self.context_fusion_attn = MultiheadAttention(
                self.embed_dim, heads, dropout=dropout, encoder_decoder_attention=True
            )

    def forward(
        self,
        x: Tensor,
        encoder_out: Optional[Tensor] = None,
        encoder_padding_mask: Optional[Tensor] = None,
        incremental_state: Optional[Dict[str, Any]] = None,
        prev_self_attn_state: Optional[List[Tensor]] = None,
        prev_attn_state: Optional[List[Tensor]] = None,
        self_attn_mask: Optional[Tensor] = None,
        self_attn_padding_mask: Optional[Tensor] = None,
        need_attn: bool = False,
        need_head_weights: bool = False,
    ) -> Any:
        """As fairseq's: (T, B, D) -> (T, B, D), the source attention's weights, None."""
        source_weights: Optional[Tensor] = None

        def attend_self(y: Tensor) -> Tensor:
            return self.self_attn(
                query=y,
                key=y,
                value=y,
                key_padding_mask=self_attn_padding_mask,
                incremental_state=incremental_state,
                need_weights=False,
                attn_mask=self_attn_mask,
            )[0]

        def attend_source(y: Tensor) -> Tensor:
            nonlocal source_weights
            attended, source_weights = self.encoder_attn(
                query=y,
                key=encoder_out,
                value=encoder_out,
                key_padding_mask=encoder_padding_mask,
                incremental_state=incremental_state,
                static_kv=incremental_state is not None,
                need_weights=need_attn or need_head_weights or (not self.training and self.need_attn),
                need_head_weights=need_head_weights,
            )
            return attended

        def attend_both(y: Tensor) -> Tensor:
            return self.fuse(y, attend_source(y), self.attend_context(y, incremental_state))

        x = self.sublayer(x, self.self_attn_layer_norm, attend_self)
        has_context = self.context is not None
        serial = has_context and self.fusion == "serial"
        if serial and self.context_first:
            x = self.context_sublayer(x, incremental_state)
        after_context = self.combine_next if self.context_first else None
        separate = has_context and self.fusion == "separate"
        branch = self.separate_branch(x, incremental_state) if separate else None
        attend = attend_both if has_context and not (serial or separate) else attend_source
        x = self.sublayer(x, self.encoder_attn_layer_norm, attend, after_context)
        if branch is not None:
            x = x + branch
        if serial and not self.context_first:
            x = self.context_sublayer(x, incremental_state)
        after_context = None if self.context_first else self.combine_next
        x = self.sublayer(x, self.final_layer_norm, self.feed_forward, after_context)
        return x, source_weights, None

    def separate_branch(self, x: Tensor, incremental_state: Any = None) -> Tensor:
        """What separate fusion adds (T, B, D) from the self-attention's output; zeros without context."""
        alone = (lambda attended, _: attended) if self.normalize_before else None  # x is in the sum already
        branch = self.sublayer(
            x,
            self.context_attn_layer_norm,
            lambda y: self.context_attn(y, self.context, incremental_state),
            alone,
        )
        return self.gated(branch)

    def fuse(self, query: Tensor, source: Tensor, context: Tensor) -> Tensor:
        """Parallel or hierarchical combination of the two attentions; all (T, B, D)."""
        if self.fusion == "parallel":
            return source + context
        both = torch.stack([source, context]).flatten(1, 2)  # (2, T * B, D)
        queries = query.reshape(1, -1, query.size(2))
        fused, _ = self.context_fusion_attn(queries, both, both, need_weights=False)
        return where_present(self.context.present, fused.view_as(query), source)  # type: ignore[union-attr]
