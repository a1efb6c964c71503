"""MTCue (Vincent et al. 2023): a context encoder reads vectors of metadata and previous sentences, and the
decoder attends to it besides the source."""

import argparse
from typing import Any

from fairseq.models import register_model

from ctxmt_fairseq.models.blocks.qk_norm_attention import normalise_attention
from ctxmt_fairseq.models.context_decoder import ContextDecoder, add_fusion_args
from ctxmt_fairseq.models.metadata_model import VectorModel, vector_defaults
from ctxmt_fairseq.models.sizes import register_sizes


class MTCueDecoder(ContextDecoder):
    """The decoder, whose attentions may be ``QKNormAttention``, too (``--context-qk-norm all``)."""

    def build_decoder_layer(self, args: Any, no_encoder_attn: bool = False) -> Any:
        layer = super().build_decoder_layer(args, no_encoder_attn)
        if self.args.context_qk_norm == "all":
            normalise_attention(layer, self.args.contexts_per_sample)
        return layer


@register_model("mtcue_transformer")
class MTCueTransformer(VectorModel):
    """MTCue, section 2; without context it is exactly fairseq's transformer.

    Table 6's ablations of the model are ``--context-layers 0`` (no context encoder) and ``--context-positions
    no``; its ablations of the data are options of the task.
    """

    decoder_class = MTCueDecoder

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_fusion_args(parser, default="parallel")


register_sizes("mtcue_transformer", vector_defaults, big=True, context_fusion="parallel", context_gate="none")
