"""Source encoders that also encode every context sentence by itself."""

from typing import Any, Mapping, Optional, Tuple

from fairseq.data import Dictionary
from torch import Tensor, nn

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.context_rows import gather_context
from ctxmt_fairseq.models.blocks.encoder_out import batch_first
from ctxmt_fairseq.models.blocks.row_groups import encode_in_groups
from ctxmt_fairseq.models.context_model import ContextEncoder


class RowsEncoder(ContextEncoder):
    """A subclass may make a stock ``context_encoder``; else this encoder reads the context, too."""

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.context_encoder: Optional[nn.Module] = None

    def encode_sentences(self, context: Mapping[str, Any]) -> Tuple[Tensor, Tensor]:
        """The states (R, L, D) of the sentences ``tokens`` in a batch's context, and their padding (R, L)."""
        encode = self.context_encoder or self.forward_scriptable
        groups = context["sizes"].sentence_groups
        return batch_first(encode_in_groups(lambda tokens, _: encode(tokens), context["tokens"], groups))

    def encode_context(self, context: Mapping[str, Any]) -> ContextStates:
        """Return the states of all context sentences."""
        return gather_context(*self.encode_sentences(context), context)
