"""Source encoders that also encode every context sentence by itself."""

from typing import Any, Mapping, Optional

from fairseq.data import Dictionary
from torch import nn

from ctxmt_fairseq.models.context_model import ContextEncoder
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.context_rows import gather_context
from ctxmt_fairseq.modules.encoder_out import EncoderOut
from ctxmt_fairseq.modules.row_groups import encode_in_groups


class RowsEncoder(ContextEncoder):
    """Encodes context sentences one by one, with ``context_encoder`` if the subclass makes one.

    Attributes:
        context_encoder: a stock encoder; None: this encoder itself, which then reads no context.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.context_encoder: Optional[nn.Module] = None

    def encode_sentences(self, context: Mapping[str, Any]) -> EncoderOut:
        """Encode each sentence of a batch's context."""
        encode = self.context_encoder or self.forward_scriptable
        groups = context["sizes"].sentence_groups
        return encode_in_groups(lambda tokens, _: encode(tokens), context["tokens"], groups)

    def encode_context(self, context: Mapping[str, Any]) -> ContextStates:
        """Return the states of all context sentences."""
        out = self.encode_sentences(context)
        states = out["encoder_out"][0].transpose(0, 1)  # (R, L, D)
        return gather_context(states, out["encoder_padding_mask"][0], context)
