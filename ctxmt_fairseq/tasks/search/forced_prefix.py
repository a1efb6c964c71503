"""Forces target prefixes: the decoder reads them in one pass, once for all hypotheses of a sentence.

fairseq's ``prefix_tokens`` decodes every prefix token as a search step, for each hypothesis. Here the decoder
reads the target context, which is translated already, at once. The search then sees the current sentence
alone, so scores, minimum length and length penalty count nothing else.
"""

import contextlib
from typing import Any, Dict, Iterator, List, Optional, Sequence

import torch
from fairseq.models.transformer import TransformerDecoderBase
from fairseq.modules import PositionalEmbedding
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.tasks.search.beams import Ensemble, beams
from ctxmt_fairseq.tasks.search.prefix_attention import Prefixes, continued, read_by

IncrementalState = Dict[str, Dict[str, Optional[Tensor]]]


class RowPositions(nn.Module):
    """Counts the position of a decoding step for each row by itself, pads left out.

    fairseq gives all rows of a batch the same position, which is wrong where prefixes differ in length.
    """

    def __init__(self, positions: nn.Module):
        super().__init__()
        self.positions = positions

    def forward(
        self, tokens: Tensor, incremental_state: Optional[IncrementalState] = None, **kwargs
    ) -> Tensor:
        """(B, T) tokens -> (B, 1, C), the position of the last one (incremental); else as the wrapped
        module."""
        embedded = self.positions(tokens, incremental_state=incremental_state, **kwargs)
        if incremental_state is None:
            return embedded
        padding = self.positions.padding_idx
        last = padding + tokens.ne(padding).sum(dim=1)
        table = getattr(self.positions, "weights", None)  # sinusoidal, grown by the call above
        return (self.positions.weight if table is None else table)[last].unsqueeze(1).type_as(embedded)


_STOCK_POSITIONS = tuple(type(PositionalEmbedding(4, 4, 1, learned=learned)) for learned in (False, True))


@contextlib.contextmanager
def _row_positions(decoder: nn.Module) -> Iterator[None]:
    """Have fairseq's own position modules count per row; those of this plugin do so already."""
    stock = getattr(decoder, "embed_positions", None)
    if not isinstance(stock, _STOCK_POSITIONS):
        yield
        return
    decoder.embed_positions = RowPositions(stock)
    try:
        yield
    finally:
        decoder.embed_positions = stock


class ForcedPrefixEnsemble(Ensemble):
    """fairseq's ensemble, whose hypotheses continue the target context of their row.

    Give it to ``SequenceGenerator`` in place of the models, and set ``prefixes`` before each batch.

    Attributes:
        prefixes: the target context (L,) int64 of each row of the batch, on the CPU. Each of its sentences
            ends with a separator; it may be empty.
    """

    def __init__(self, models: Sequence[nn.Module], eos: int, pad: int):
        super().__init__(list(models))
        self.eos, self.pad = eos, pad
        self.beam_size = 1
        self.prefixes: List[Tensor] = []
        self._read = torch.empty(0, 0, dtype=torch.long)  # (B * beam, L) what was read, right-padded
        self._first = torch.empty(0, dtype=torch.long)  # (B * beam,) the token that the search starts from
        self._kept: List[Prefixes] = []  # keys and values of what was read, for each model

    def set_decoder_beam_size(self, beam_size: int) -> None:
        self.beam_size = beam_size

    def forward_decoder(self, tokens, encoder_outs, incremental_states, temperature: float = 1.0):
        if tokens.size(1) == 1:
            self._read_prefixes(tokens.device, encoder_outs, incremental_states)
        tokens = torch.cat([self._read, self._first[:, None], tokens[:, 1:]], dim=1)
        with contextlib.ExitStack() as stack:
            for model, prefixes in zip(self.models, self._kept, strict=True):
                stack.enter_context(_row_positions(model.decoder))
                stack.enter_context(continued(prefixes))
            return super().forward_decoder(tokens, encoder_outs, incremental_states, temperature)

    def reorder_incremental_state(self, incremental_states, new_order) -> None:
        super().reorder_incremental_state(incremental_states, new_order)
        if len(new_order) == len(self._read):
            return  # hypotheses change places within their sentences, which have one prefix each
        self._read = self._read.index_select(0, new_order)
        self._first = self._first.index_select(0, new_order)
        for prefixes in self._kept:
            for prefix in prefixes.values():
                prefix.keep(new_order[:: self.beam_size] // self.beam_size)

    def _read_prefixes(self, device, encoder_outs, incremental_states) -> None:
        """Have each decoder read ``</s>`` and the prefixes, without their last tokens, in one pass."""
        rows = len(self.prefixes)
        width = max((len(prefix) for prefix in self.prefixes), default=0)
        read = torch.full((rows, width), self.pad)
        first = torch.full((rows,), self.eos)
        for row, prefix in enumerate(self.prefixes):
            if len(prefix):
                read[row, 0] = self.eos
                read[row, 1 : len(prefix)] = prefix[:-1]
                first[row] = prefix[-1]
        read, first = to_device((read, first), device)
        repeated = torch.arange(rows, device=device).repeat_interleave(self.beam_size)
        self._read, self._first = read[repeated], first[repeated]
        self._kept = [{} for _ in self.models]
        if not width:
            return
        first_beams = torch.arange(rows, device=device) * self.beam_size
        for number, (model, encoder_out) in enumerate(zip(self.models, encoder_outs, strict=True)):
            once = model.encoder.reorder_encoder_out(encoder_out, first_beams)
            if hasattr(model.decoder, "read_prefix"):  # recurrent: its state is not keys and values
                state = incremental_states[number]
                model.decoder.read_prefix(read, once, state)
                model.decoder.reorder_incremental_state_scripting(state, repeated)
            else:
                with beams([model], 1):
                    self._kept[number] = self._keys_and_values(model.decoder, once, read)

    def _keys_and_values(self, decoder, encoder_out, read: Tensor) -> Prefixes:
        prefixes: Prefixes = {}
        if isinstance(decoder, TransformerDecoderBase):
            prefixes = self._read_at_once(decoder, encoder_out, read)
        if not prefixes:  # as with --cross-self-attention: what was read would be lost
            raise BadInput(
                f"--decoding prefix: {type(decoder).__name__} cannot read a target context at once; use "
                "--decoding window"
            )
        return prefixes

    def _read_at_once(self, decoder, encoder_out, read: Tensor) -> Prefixes:
        padding = read.eq(self.pad)
        # A row of pads alone would give NaN: a row without prefix reads </s>, which the mask then hides.
        read = torch.where(padding.all(dim=1, keepdim=True), self.eos, read)
        with read_by(decoder, padding) as prefixes:
            decoder(read, encoder_out=encoder_out, features_only=True)
        return prefixes


def forces_prefixes(generator: Any) -> bool:
    """Whether a generator continues target contexts; others search for whole windows, or score references."""
    return isinstance(getattr(generator, "model", None), ForcedPrefixEnsemble)
