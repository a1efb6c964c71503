"""From context sentences, each encoded once, to the context of every row of a batch."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor

from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.encoder_out import EncoderOut


class ContextRows(NamedTuple):
    """Sentences to encode, and where they stand.

    Attributes:
        tokens: (R, L), at least one row, none of pads alone.
        index: (B, C) row of ``tokens``, or -1 where there is no sentence.
    """

    tokens: Tensor
    index: Tensor


def context_rows(tokens: Tensor, index: Optional[Tensor], pad: int, eos: int) -> ContextRows:
    """Leave out what is no sentence.

    Args:
        tokens: the sentences (R, L), with ``index`` (B, C); or without it (B, C, L), a row of pads where
            there is no sentence: which those are is read from the tokens, for which a GPU is waited for.
    """
    if index is not None:
        return ContextRows(tokens, index)
    present = tokens.ne(pad).any(dim=-1)
    if not present.any():  # the encoder still runs, so that every worker has the same gradients
        return ContextRows(tokens.new_full((1, 1), eos), torch.full_like(tokens[..., 0], -1))
    numbers = present.flatten().cumsum(0).view_as(present) - 1
    return ContextRows(tokens[present], numbers.masked_fill(~present, -1))


def gather_context(
    states: Tensor, padding: Tensor, index: Tensor, width: Optional[int] = None
) -> ContextStates:
    """States (R, L, D) of sentences, with padding (R, L), as the context of B rows.

    Args:
        index: (B, C) sentence, or -1 for none.
        width: the most real states of a row (``ContextSizes.widest``); None: see ``ContextStates.compact``.
    """
    chosen = index.clamp(min=0)
    missing = padding[chosen] | index.lt(0).unsqueeze(-1)
    return ContextStates(states[chosen].flatten(1, 2), missing.flatten(1, 2)).compact(width)


def append_context(encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
    """``encoder_out`` whose states are those of the source and of the context in one sequence (fusion
    "flat")."""
    states = torch.cat([encoder_out["encoder_out"][0], context.states.transpose(0, 1)])
    padding = torch.cat([encoder_out["encoder_padding_mask"][0], context.padding], dim=1)
    return {**encoder_out, "encoder_out": [states], "encoder_padding_mask": [padding]}
