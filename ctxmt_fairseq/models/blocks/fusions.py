"""How a decoder attends to source and context: the values of ``--context-fusion``.

They compute a row without context as fairseq does, whatever else is in the batch.
"""

from typing import Any, Callable, Dict, List, Optional, Tuple, Type

import torch
from fairseq.modules import LayerNorm, MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase
from torch import Tensor

from ctxmt_fairseq.base.registry import Registry
from ctxmt_fairseq.models.blocks.context_attention import ContextStates, where_present
from ctxmt_fairseq.models.blocks.context_layers import Combine, ContextLayer
from ctxmt_fairseq.models.blocks.encoder_out import EncoderOut

Attend = Callable[[Tensor], Tensor]


class Fusion:
    """A way to give the decoder its context: a class of decoder layer (``ContextDecoderLayer``), or a way to
    join the states before a decoder with fairseq's layers.

    Attributes:
        description: for ``--help``.
        gates: the values of ``--context-gate`` that it works with.
    """

    description: str
    gates: Tuple[str, ...] = ("none",)

    @staticmethod
    def for_decoder(encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
        """Add the context to ``encoder_out``."""
        raise NotImplementedError


FUSIONS: Registry[Type[Fusion]] = Registry("a fusion")


class ContextDecoderLayer(ContextLayer, TransformerDecoderLayerBase, Fusion):
    """A decoder layer that attends to source and context; a subclass says how (``fuse``).

    Args:
        gate: one of the class's ``gates``; see ``ContextLayer``. "branch" is equation 5 of sequence
            shortening.
    """

    gates: Tuple[str, ...] = ("none", "branch")

    def __init__(self, cfg: Any, gate: str = "none"):
        super().__init__(cfg)
        self.add_context_attention(cfg.decoder.attention_heads, cfg, gate)

    @staticmethod
    def for_decoder(encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
        return {**encoder_out, **context.entries()}

    def fuse(self, x: Tensor, attend_source: Attend, incremental_state: Any) -> Tensor:
        """Compute what follows self-attention if the batch has context: (T, B, D) -> (T, B, D).
        ``attend_source`` is fairseq's attention to the source."""
        raise NotImplementedError

    @property
    def combine_feed_forward(self) -> Optional[Combine]:
        """How the feed-forward network is joined with its input; None: by fairseq's residual connection."""
        return None

    def source_sublayer(self, x: Tensor, attend: Attend, combine: Optional[Combine] = None) -> Tensor:
        """Compute fairseq's sub-layer of source attention, with ``attend`` as the attention."""
        return self.sublayer(x, self.encoder_attn_layer_norm, attend, combine)

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
        """As fairseq's ``forward``: returns (T, B, D), the source attention's weights, and None."""
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

        x = self.sublayer(x, self.self_attn_layer_norm, attend_self)
        if self.context is None:
            x = self.source_sublayer(x, attend_source)
        else:
            x = self.fuse(x, attend_source, incremental_state)
        x = self.sublayer(x, self.final_layer_norm, self.feed_forward, self.combine_feed_forward)
        return x, source_weights, None


@FUSIONS.register("serial")
class Serial(ContextDecoderLayer):
    """Two sub-layers, one after the other (Libovicky et al. 2018).

    Args:
        context_first: whether context attention comes before source attention (the thesis' code).
    """

    description = "one after the other"
    gates = ("none", "branch", "next-sublayer", "zhang")

    def __init__(self, cfg: Any, gate: str = "none", context_first: bool = False):
        super().__init__(cfg, gate)
        self.context_first = context_first
        self.context_attn_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)

    def fuse(self, x: Tensor, attend_source: Attend, incremental_state: Any) -> Tensor:
        if self.context_first:
            x = self.context_sublayer(x, incremental_state)
            return self.source_sublayer(x, attend_source, self.combine_next)
        return self.context_sublayer(self.source_sublayer(x, attend_source), incremental_state)

    @property
    def combine_feed_forward(self) -> Optional[Combine]:
        return None if self.context_first else self.combine_next


@FUSIONS.register("parallel")
class Parallel(ContextDecoderLayer):
    """The sum of both attentions in one sub-layer (Libovicky et al. 2018; MTCue, section 2.3)."""

    description = "their sum"

    def fuse(self, x: Tensor, attend_source: Attend, incremental_state: Any) -> Tensor:
        return self.source_sublayer(
            x, lambda y: self.attend_both(y, attend_source(y), self.attend_context(y, incremental_state))
        )

    def attend_both(self, query: Tensor, source: Tensor, context: Tensor) -> Tensor:
        """Make one result of the query's two; all are (T, B, D)."""
        return source + context


@FUSIONS.register("parallel-mean")
class ParallelMean(Parallel):
    """Half of each attention in one sub-layer, as MTCue's program has it."""

    description = "their mean (MTCue's program)"

    def attend_both(self, query: Tensor, source: Tensor, context: Tensor) -> Tensor:
        return where_present(self.context.present, (source + context) / 2, source)  # type: ignore[union-attr]


@FUSIONS.register("separate")
class Separate(ContextDecoderLayer):
    """Two branches from the self-attention's output a, each with a residual connection and a layer norm of
    its own (sequence shortening, section 5.2): out = LN(a + SourceAttn(a)) + g LN(a + ContextAttn(a)), where
    g is the gate on the branch. Rows without context have the first summand alone.

    With ``normalize_before``, of which the paper says nothing, a is added once: out = a + SourceAttn(LN(a)) +
    g ContextAttn(LN(a)).
    """

    description = "two branches with a layer norm each"

    def __init__(self, cfg: Any, gate: str = "none"):
        super().__init__(cfg, gate)
        self.context_attn_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)

    def fuse(self, x: Tensor, attend_source: Attend, incremental_state: Any) -> Tensor:
        branch = self.branch(x, incremental_state)
        return self.source_sublayer(x, attend_source) + branch

    def branch(self, x: Tensor, incremental_state: Any = None) -> Tensor:
        """Compute what is added (T, B, D) to the first branch; zeros in rows without context."""
        alone = (lambda attended, _: attended) if self.normalize_before else None  # x is in the sum already
        branch = self.sublayer(
            x,
            self.context_attn_layer_norm,
            lambda y: self.context_attn(y, self.context, incremental_state),
            alone,
        )
        return self.gated(branch)


@FUSIONS.register("hierarchical")
class Hierarchical(Parallel):
    """A second attention, over the results of the two (Libovicky et al. 2018)."""

    description = "a second attention over the two"

    def __init__(self, cfg: Any, gate: str = "none"):
        super().__init__(cfg, gate)
        self.context_fusion_attn = MultiheadAttention(
            self.embed_dim,
            cfg.decoder.attention_heads,
            dropout=cfg.attention_dropout,
            encoder_decoder_attention=True,
        )

    def attend_both(self, query: Tensor, source: Tensor, context: Tensor) -> Tensor:
        both = torch.stack([source, context]).flatten(1, 2)  # (2, T * B, D)
        queries = query.reshape(1, -1, query.size(2))
        fused, _ = self.context_fusion_attn(queries, both, both, need_weights=False)
        return where_present(self.context.present, fused.view_as(query), source)  # type: ignore[union-attr]


@FUSIONS.register("flat", "concat")
class Flat(Fusion):
    """The states of source and context in one sequence (Libovicky et al. 2018)."""

    description = "one attention over all states"

    @staticmethod
    def for_decoder(encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
        states = torch.cat([encoder_out["encoder_out"][0], context.states.transpose(0, 1)])
        padding = torch.cat([encoder_out["encoder_padding_mask"][0], context.padding], dim=1)
        return {**encoder_out, "encoder_out": [states], "encoder_padding_mask": [padding]}


def layer_fusions() -> List[str]:
    """The fusions whose decoder layers have an attention of their own to the context."""
    return FUSIONS.where(lambda fusion: issubclass(fusion, ContextDecoderLayer))
