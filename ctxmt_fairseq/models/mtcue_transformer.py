"""MTCue (Vincent et al. 2023): vectors of metadata and previous sentences through a context encoder that the
decoder attends to besides the source."""

import argparse
from typing import Any

from fairseq.data import Dictionary
from fairseq.models import register_model
from torch import nn

from ctxmt_fairseq.models.context_model import add_fusion_args, check_fusion
from ctxmt_fairseq.models.metadata_model import EncoderOut, VectorEncoder, VectorModel, vector_defaults
from ctxmt_fairseq.models.sizes import register_sizes
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.context_layers import LAYER_FUSIONS
from ctxmt_fairseq.modules.context_rows import append_context


class MTCueEncoder(VectorEncoder):
    """The decoder sees all states of the context."""

    def join(self, encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
        if self.args.context_fusion in LAYER_FUSIONS:
            return {**encoder_out, **context.entries()}
        return append_context(encoder_out, context)


@register_model("mtcue_transformer")
class MTCueTransformer(VectorModel):
    """MTCue, section 2; without context it is fairseq's transformer exactly.

    Table 6's ablations of the model: ``--context-layers 0`` (no context encoder) and ``--context-positions
    no``; those of the data are the task's.
    """

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_fusion_args(parser, default="parallel")

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "MTCueTransformer":
        check_fusion(args)
        return super().build_model(args, task)

    @classmethod
    def build_encoder(cls, args: Any, src_dict: Dictionary, embed_tokens: nn.Embedding) -> MTCueEncoder:
        return MTCueEncoder(args, src_dict, embed_tokens)


def mtcue_defaults(args: Any) -> None:
    vector_defaults(args)
    args.context_qk_norm = getattr(args, "context_qk_norm", "yes")
    args.context_fusion = getattr(args, "context_fusion", "parallel")
    args.context_gate = getattr(args, "context_gate", "none")


register_sizes("mtcue_transformer", mtcue_defaults, big=True)
