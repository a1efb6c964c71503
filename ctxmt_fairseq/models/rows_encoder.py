"""Source encoders that encode every context sentence by itself, besides the current one."""

from typing import Any, Optional

from fairseq.data import Dictionary
from torch import Tensor, nn

from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.models.context_model import ContextEncoder
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.context_rows import context_rows, gather_context
from ctxmt_fairseq.modules.row_groups import encode_sentences


class RowsEncoder(ContextEncoder):
    """A subclass makes ``context_encoder``.

    Attributes:
        context_encoder: a stock encoder; None: this one, without context.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.eos = dictionary.eos()
        self.context_encoder: Optional[nn.Module] = None

    def encode_context(
        self,
        context_tokens: Tensor,
        context_index: Optional[Tensor] = None,
        context_sizes: Optional[ContextSizes] = None,
    ) -> ContextStates:
        """The states of all context sentences; the arguments are those of
        ``MultiSourceDataset.context_batch``."""
        rows = context_rows(context_tokens, context_index, self.padding_idx, self.eos)
        groups = context_sizes.context_groups if context_sizes else ()
        width = self.context_width(context_sizes) if context_sizes else None
        out = encode_sentences(self.context_encoder or self.forward_scriptable, rows.tokens, groups)
        states = out["encoder_out"][0].transpose(0, 1)  # (R, L, D)
        return gather_context(states, out["encoder_padding_mask"][0], rows.index, width)
