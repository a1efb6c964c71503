"""Source encoders that encode every context sentence by itself, besides the current one."""

from typing import Any, Dict, List, Optional

from fairseq.data import Dictionary
from torch import Tensor, nn

from ctxmt_fairseq.models.context_model import ContextEncoder
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.context_rows import context_rows, place

EncoderOut = Dict[str, List[Tensor]]


class RowsEncoder(ContextEncoder):
    """A subclass makes ``context_encoder`` and says in ``encode_source`` who reads its states.

    Attributes:
        context_encoder: a stock encoder; None: this one, without context.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.eos = dictionary.eos()
        self.context_encoder: Optional[nn.Module] = None

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        return_all_hiddens: bool = False,
        token_embeddings: Optional[Tensor] = None,
        context_tokens: Optional[Tensor] = None,
        context_index: Optional[Tensor] = None,
    ) -> EncoderOut:
        """fairseq's ``forward``; the context is that of ``MultiSourceDataset.context_batch``."""
        context = None
        if context_tokens is not None:
            rows = context_rows(context_tokens, context_index, self.padding_idx, self.eos)
            encode = self.context_encoder or super().forward
            out = encode(rows.tokens)
            states = out["encoder_out"][0].transpose(0, 1)  # (R, L, D)
            context = place(states, out["encoder_padding_mask"][0], rows.index)
        return self.encode_source(context, src_tokens, src_lengths, return_all_hiddens, token_embeddings)

    def encode_source(self, context: Optional[ContextStates], *source: Any) -> EncoderOut:
        """``encoder_out`` for the current sentences; here fairseq's, which reads no context.

        Args:
            source: what fairseq's ``forward`` takes.
        """
        return super().forward(*source)
