"""Context-aware transformer with a gated context encoder (Voita et al. 2018)."""

from typing import Any, Optional

from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.models.transformer import TransformerConfig, TransformerEncoder
from torch import nn

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.models.blocks.context_attention import ContextStates, given_context
from ctxmt_fairseq.models.blocks.context_layers import GatedContextEncoderLayer
from ctxmt_fairseq.models.blocks.encoder_out import EncoderOut
from ctxmt_fairseq.models.context_model import MultiSourceModel
from ctxmt_fairseq.models.rows_encoder import RowsEncoder
from ctxmt_fairseq.models.sizes import SEPARATE_VOCABULARIES, register_sizes


class GatedContextEncoder(RowsEncoder):
    """Source and context encoder share embeddings and N - 1 layers; the source's last layer reads the
    context.

    The context encoder is a stock encoder, so it has a last layer of its own and, with
    ``--encoder-normalize-before``, a final layer norm of its own.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.context_encoder = TransformerEncoder(args, dictionary, embed_tokens)
        self.context_encoder.embed_positions = self.embed_positions
        self.context_encoder.layernorm_embedding = self.layernorm_embedding
        for number in range(self.num_layers - 1):  # iterating would let --encoder-layerdrop leave some out
            self.context_encoder.layers[number] = self.layers[number]
        self.layers[-1] = GatedContextEncoderLayer(TransformerConfig.from_namespace(args))

    def encode_source(self, context: Optional[ContextStates], *source: Any) -> EncoderOut:
        with given_context(self.layers[-1], context):
            return super().encode_source(context, *source)

    def for_decoder(self, encoder_out: EncoderOut, context: Optional[ContextStates]) -> EncoderOut:
        return encoder_out  # the source's states have read the context


@register_model("gated_context_transformer")
class GatedContextTransformer(MultiSourceModel):
    """Voita et al. 2018, section 3; the decoder is fairseq's. ``<bos>`` tells context sentences apart."""

    encoder_class = GatedContextEncoder
    context_format = ContextFormat("rows", bos=True)


# The paper's vocabularies are separate.
register_sizes("gated_context_transformer", base=SEPARATE_VOCABULARIES)
