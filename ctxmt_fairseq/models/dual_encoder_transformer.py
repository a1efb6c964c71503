"""Two encoders, and a decoder that attends to both (the thesis, section 4.3.1; Libovicky et al. 2018)."""

import argparse
from typing import Any

from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.models.transformer import TransformerEncoder
from torch import nn

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.models.context_decoder import ContextDecoder, add_fusion_args
from ctxmt_fairseq.models.context_model import MultiSourceModel
from ctxmt_fairseq.models.rows_encoder import RowsEncoder
from ctxmt_fairseq.models.sizes import SEPARATE_VOCABULARIES, add_options, register_sizes


class DualEncoder(RowsEncoder):
    """A source encoder and a context encoder that do not read each other and share their word embeddings.

    With ``--context-encoder shared`` or ``shared-token`` they share all weights.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        if args.context_encoder == "separate":
            self.context_encoder = TransformerEncoder(args, dictionary, embed_tokens)


@register_model("dual_encoder_transformer")
class DualEncoderTransformer(MultiSourceModel):
    """The thesis' dual encoder, and the multi-encoder baseline of sequence shortening (fusion ``concat``)."""

    encoder_class = DualEncoder
    decoder_class = ContextDecoder

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_fusion_args(parser)
        add_options(
            parser,
            ("--context-encoder", ("separate", "shared", "shared-token"),
             "an encoder of its own, or the source's, without or with a first <s> (default: separate)"),
            ("--context-layout", ("rows", "joined"),
             "context sentences encoded one by one, or joined into one sequence (default: rows)"),
        )  # fmt: skip

    @property
    def context_format(self) -> ContextFormat:
        return ContextFormat(
            "rows",
            bos=self.args.context_encoder == "shared-token",
            joined=self.args.context_layout == "joined",
        )


register_sizes(
    "dual_encoder_transformer",
    base=SEPARATE_VOCABULARIES,
    context_encoder="separate",
    context_layout="rows",
    context_fusion="serial",
    context_gate="none",
)
