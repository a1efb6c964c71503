"""Forces target prefixes: the decoder reads them in one pass, once for all hypotheses of a sentence.

fairseq's ``prefix_tokens`` decodes every prefix token as a search step, for each hypothesis. Here the decoder
reads the target context, which is translated already, at once. The search then sees the current sentence
alone, so scores, minimum length and length penalty count nothing else.
"""

import contextlib
from typing import Any, Dict, Iterator, List, Optional, Sequence

import torch
from fairseq.models.transformer import TransformerDecoderBase
from fairseq.modules import MultiheadAttention, PositionalEmbedding
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.tasks.search.beams import Ensemble, beams
from ctxmt_fairseq.tasks.search.step_attention import Steps

IncrementalState = Dict[str, Dict[str, Optional[Tensor]]]


class RowPositions(nn.Module):
    """Counts the position of a decoding step for each row by itself, pads left out.

    fairseq gives all rows of a batch the same position, which is wrong where prefixes differ in length.
    """

    def __init__(self, positions: nn.Module):
        super().__init__()
        self.positions = positions

    @property
    def max_positions(self) -> int:
        return int(self.positions.max_positions)

    def forward(
        self, tokens: Tensor, incremental_state: Optional[IncrementalState] = None, **kwargs
    ) -> Tensor:
        """(B, T) tokens -> (B, 1, C), the last one's position (incremental); else as the wrapped module."""
        if incremental_state is None:
            return self.positions(tokens, **kwargs)
        padding = self.positions.padding_idx
        last = padding + tokens.ne(padding).sum(dim=1)
        if hasattr(self.positions, "weight"):  # learned; a call would look for the position of the pads, too
            return self.positions.weight[last].unsqueeze(1)
        embedded = self.positions(tokens, incremental_state=incremental_state, **kwargs)
        return self.positions.weights[last].unsqueeze(1).type_as(embedded)  # grown by the call


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
    """fairseq's ensemble, whose hypotheses continue the target context of their row. Give it to
    ``SequenceGenerator`` in place of the models, and set ``prefixes`` before each batch: the target context
    (L,) int64 of each row, on the CPU, each of whose sentences ends with a separator; it may be empty."""

    def __init__(self, models: Sequence[nn.Module], eos: int, pad: int):
        super().__init__(list(models))
        self.eos, self.pad = eos, pad
        self.prefixes: List[Tensor] = []
        self._read = torch.empty(0, 0, dtype=torch.long)  # (B * beam, L) what was read, right-padded
        self._first = torch.empty(0, dtype=torch.long)  # (B * beam,) the token that the search starts from
        self._rooms = torch.empty(0, dtype=torch.long)  # (B * beam,) tokens that may follow what was read
        self._least = 0  # of these

    def forward_decoder(self, tokens, encoder_outs, incremental_states, temperature: float = 1.0):
        with contextlib.ExitStack() as stack:
            for model in self.models:
                stack.enter_context(_row_positions(model.decoder))
            return super().forward_decoder(tokens, encoder_outs, incremental_states, temperature)

    def rooms(self) -> List[int]:
        """How many tokens, without ``</s>``, may follow each prefix, whose positions the sentence shares."""
        return [self.max_decoder_positions() - 1 - len(prefix) for prefix in self.prefixes]

    def ended(self, lprobs: Tensor, step: int) -> Tensor:
        if step >= self._least:  # fairseq ends those of the row with the shortest prefix
            full = self._rooms <= step
            ends = lprobs[full, self.eos]
            lprobs[full] = -torch.inf
            lprobs[full, self.eos] = ends
        return lprobs

    def history(self, tokens: Tensor) -> Tensor:
        return torch.cat([self._read, self._first[:, None], tokens[:, 1:]], dim=1)

    def reorder_incremental_state(self, incremental_states, new_order) -> None:
        super().reorder_incremental_state(incremental_states, new_order)
        if len(new_order) < len(self._read):  # else within their sentences, which have one prefix each
            self._read, self._first = self._read[new_order], self._first[new_order]
            self._rooms = self._rooms[new_order]

    def first_steps(self, encoder_outs, incremental_states, device) -> List[Steps]:
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
        rooms = torch.tensor(self.rooms(), dtype=torch.long)
        self._least = int(rooms.min()) if rows else 0
        read, first, rooms = to_device((read, first, rooms), device)
        repeated = torch.arange(rows, device=device).repeat_interleave(self.beam_size)
        self._read, self._first, self._rooms = read[repeated], first[repeated], rooms[repeated]
        if not width:
            return super().first_steps(encoder_outs, incremental_states, device)
        found = []
        first_beams = torch.arange(rows, device=device) * self.beam_size
        for model, encoder_out, state in zip(self.models, encoder_outs, incremental_states, strict=True):
            once = model.encoder.reorder_encoder_out(encoder_out, first_beams)
            states: Dict[MultiheadAttention, Tensor] = {}
            if hasattr(model.decoder, "read_prefix"):  # recurrent: its state is not keys and values
                model.decoder.read_prefix(read, once, state)
                model.decoder.reorder_incremental_state_scripting(state, repeated)
            else:
                with beams([model], 1), _inputs(model.decoder) as states:
                    self._read_at_once(model.decoder, once, read)
                if not states:  # as with --cross-self-attention: what was read would be lost
                    raise BadInput(
                        f"--decoding prefix: {type(model.decoder).__name__} cannot read a target context at "
                        "once; use --decoding window"
                    )
            steps = Steps(model.decoder, self.beam_size, read.eq(self.pad), states)
            for attention in states.keys() - steps.attentions.keys():
                _remember(attention, state, states[attention], read.eq(self.pad), repeated)
            found.append(steps)
        return found

    def _read_at_once(self, decoder, encoder_out, read: Tensor) -> None:
        if isinstance(decoder, TransformerDecoderBase):
            # A row of pads alone would give NaN: a row without prefix reads </s>, which the mask then hides.
            nothing = read.eq(self.pad).all(dim=1, keepdim=True)
            decoder(torch.where(nothing, self.eos, read), encoder_out=encoder_out, features_only=True)


@contextlib.contextmanager
def _inputs(decoder: nn.Module) -> Iterator[Dict[MultiheadAttention, Tensor]]:
    """Collect what the decoder's self-attentions read in the block."""
    states: Dict[MultiheadAttention, Tensor] = {}

    def record(attention, args, kwargs):
        states[attention] = kwargs["query"] if "query" in kwargs else args[0]

    with contextlib.ExitStack() as hooks:
        for module in decoder.modules():
            if isinstance(module, MultiheadAttention) and module.self_attention:
                hooks.callback(module.register_forward_pre_hook(record, with_kwargs=True).remove)
        yield states


def _remember(attention: Any, state: Any, states: Tensor, padding: Tensor, rows: Tensor) -> None:
    """Fill fairseq's cache of an attention that is not fairseq's own with the prefixes of all hypotheses: the
    input (L, B, D), its padding (B, L), and the sentences (B * beam,) of the hypotheses."""
    shape = *states.shape[:2], attention.num_heads, attention.head_dim
    keys, values = (
        project(states).view(shape).permute(1, 2, 0, 3)[rows].contiguous()
        for project in (attention.k_proj, attention.v_proj)
    )
    kept = {"prev_key": keys, "prev_value": values, "prev_key_padding_mask": padding[rows]}
    attention._set_input_buffer(state, kept)


def forces_prefixes(generator: Any) -> bool:
    """Whether a generator continues target contexts; others search for whole windows, or score references."""
    return isinstance(getattr(generator, "model", None), ForcedPrefixEnsemble)
