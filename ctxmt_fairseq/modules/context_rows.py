"""From context sentences, each encoded once, to the context of every row of a batch."""

from typing import Any, Mapping, Optional, Tuple

import torch
from torch import Tensor

from ctxmt_fairseq.data.context_sizes import Vectors
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.encoder_out import EncoderOut


def placed(states: Tensor, padding: Tensor, index: Tensor) -> Tuple[Tensor, Tensor]:
    """States (R, L, D) of sentences, with padding (R, L), where ``index`` (B, C) says: (B, C, L, D) and
    (B, C, L)."""
    chosen = index.clamp(min=0)
    return states[chosen], padding[chosen] | index.lt(0).unsqueeze(-1)


def gather_context(
    states: Tensor, padding: Tensor, context: Mapping[str, Any], vectors: Optional[Vectors] = None
) -> ContextStates:
    """States (R, L, D) of sentences, with padding (R, L), as the context of B rows.

    Args:
        context: of ``MultiSourceDataset.context_batch``.
        vectors: how many states a sentence of so many tokens has; default: as many.
    """
    states, padding = placed(states, padding, context["index"])
    counts = context["sizes"].counts(vectors)
    return ContextStates(states.flatten(1, 2), padding.flatten(1, 2), counts).compact()


def append_context(encoder_out: EncoderOut, context: ContextStates) -> EncoderOut:
    """``encoder_out`` whose states are those of the source and of the context in one sequence (fusion
    "flat")."""
    states = torch.cat([encoder_out["encoder_out"][0], context.states.transpose(0, 1)])
    padding = torch.cat([encoder_out["encoder_padding_mask"][0], context.padding], dim=1)
    return {**encoder_out, "encoder_out": [states], "encoder_padding_mask": [padding]}
