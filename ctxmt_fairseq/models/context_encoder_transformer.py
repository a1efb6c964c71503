"""A transformer whose source encoder and decoder read a context encoder (Zhang et al. 2018, as in the
thesis)."""

import argparse
import copy
from typing import Any, Optional

from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.models.transformer import TransformerConfig, TransformerEncoder
from torch import nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.context_attention import ContextStates, given_context
from ctxmt_fairseq.models.blocks.context_layers import ContextEncoderLayer
from ctxmt_fairseq.models.blocks.encoder_out import EncoderOut
from ctxmt_fairseq.models.context_decoder import ContextDecoder
from ctxmt_fairseq.models.context_model import MultiSourceModel
from ctxmt_fairseq.models.rows_encoder import RowsEncoder
from ctxmt_fairseq.models.sizes import add_options, register_sizes, set_defaults


class SourceContextEncoder(RowsEncoder):
    """A source encoder of which every layer attends to a context encoder of ``--context-layers`` layers."""

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        shallow = copy.deepcopy(args)  # deep, because its encoder options are an object in it
        shallow.encoder_layers = args.context_layers
        self.context_encoder = TransformerEncoder(shallow, dictionary, embed_tokens)

    def build_encoder_layer(self, args: Any) -> ContextEncoderLayer:
        return ContextEncoderLayer(TransformerConfig.from_namespace(args), self.args.context_gate)

    def encode_source(self, context: Optional[ContextStates], *source: Any) -> EncoderOut:
        with given_context(self.layers, context):
            return super().encode_source(context, *source)


@register_model("context_encoder_transformer")
class ContextEncoderTransformer(MultiSourceModel):
    """Zhang et al. 2018; the thesis, sections 4.3.2 and 5.2 (equations 4.2 and 4.3).

    Without context it is exactly fairseq's transformer, so ``--sentence-checkpoint`` with
    ``--train-context-only`` leaves the sentence-level model as it is.
    """

    encoder_class = SourceContextEncoder
    decoder_class = ContextDecoder

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_options(
            parser,
            ("--context-layers", int, "layers of the context encoder (default: 1)"),
            ("--context-gate", ("next-sublayer", "thesis", "zhang", "none"),
             "gate on the residual connection after context attention, at the next sub-layer (alias: "
             "thesis) or at its own (zhang) (default: next-sublayer)"),
            ("--context-order", ("context-first", "source-first"),
             "order of the decoder's two attentions (default: context-first, as the thesis' code)"),
        )  # fmt: skip

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "ContextEncoderTransformer":
        if args.context_layers < 1:
            raise BadInput(f"--context-layers {args.context_layers}: expected 1 or more")
        return super().build_model(args, task)


def context_encoder_defaults(args: Any) -> None:
    set_defaults(args, context_layers=1, context_gate="next-sublayer", context_order="context-first")
    args.context_fusion = "serial"
    args.context_gate = "next-sublayer" if args.context_gate == "thesis" else args.context_gate


register_sizes("context_encoder_transformer", context_encoder_defaults)
