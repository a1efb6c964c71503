"""MTCue (Vincent et al. 2023): vectors of metadata and previous sentences through a context encoder that the
decoder attends to besides the source."""

import argparse
from typing import Any

from fairseq.models import register_model

from ctxmt_fairseq.models.context_decoder import ContextDecoder, add_fusion_args, check_fusion
from ctxmt_fairseq.models.metadata_model import VectorModel, vector_defaults
from ctxmt_fairseq.models.sizes import register_sizes


@register_model("mtcue_transformer")
class MTCueTransformer(VectorModel):
    """MTCue, section 2; without context it is fairseq's transformer exactly.

    Table 6's ablations of the model: ``--context-layers 0`` (no context encoder) and ``--context-positions
    no``; those of the data are the task's.
    """

    decoder_class = ContextDecoder

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_fusion_args(parser, default="parallel")

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "MTCueTransformer":
        check_fusion(args)
        return super().build_model(args, task)


def mtcue_defaults(args: Any) -> None:
    vector_defaults(args)
    args.context_qk_norm = getattr(args, "context_qk_norm", "yes")
    args.context_fusion = getattr(args, "context_fusion", "parallel")
    args.context_gate = getattr(args, "context_gate", "none")


register_sizes("mtcue_transformer", mtcue_defaults, big=True)
