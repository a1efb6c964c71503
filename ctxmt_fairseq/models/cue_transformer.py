"""NOVOTNEY-CUE, a baseline of MTCue (section 3.3): one vector for all context (Novotney et al. 2022)."""

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.models.transformer import TransformerDecoder
from torch import nn

from ctxmt_fairseq.models.metadata_model import EncoderOut, VectorEncoder, VectorModel, vector_defaults
from ctxmt_fairseq.models.sizes import register_sizes
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.context_rows import append_context
from ctxmt_fairseq.modules.vector_context import mean_context


class CueEncoder(VectorEncoder):
    """The mean of the context's states is one more position of the source; without context there is none."""

    def join(self, encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
        return append_context(encoder_out, mean_context(context))


@register_model("cue_transformer")
class CueTransformer(VectorModel):
    """MTCue's context encoder, with fairseq's decoder."""

    @classmethod
    def build_encoder(cls, args: Any, src_dict: Dictionary, embed_tokens: nn.Embedding) -> CueEncoder:
        return CueEncoder(args, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Dictionary, embed_tokens: nn.Embedding) -> TransformerDecoder:
        return TransformerDecoder(args, tgt_dict, embed_tokens)


def cue_defaults(args: Any) -> None:
    vector_defaults(args)
    args.context_qk_norm = getattr(args, "context_qk_norm", "yes")


register_sizes("cue_transformer", cue_defaults, big=True)
