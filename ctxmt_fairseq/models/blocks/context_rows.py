"""Puts context sentences, which are encoded once each, into the context of every row of a batch."""

from typing import Any, Mapping, Optional, Tuple

from torch import Tensor

from ctxmt_fairseq.data.context_sizes import Vectors
from ctxmt_fairseq.models.blocks.context_attention import ContextStates


def placed(states: Tensor, padding: Tensor, index: Tensor) -> Tuple[Tensor, Tensor]:
    """Put states (R, L, D), padding (R, L) where ``index`` (B, C) says: (B, C, L, D) and (B, C, L)."""
    chosen = index.clamp(min=0)
    return states[chosen], padding[chosen] | index.lt(0).unsqueeze(-1)


def gather_context(
    states: Tensor, padding: Tensor, context: Mapping[str, Any], vectors: Optional[Vectors] = None
) -> ContextStates:
    """Make the context of B rows from the states (R, L, D) of sentences, with padding (R, L).

    Args:
        context: what ``MultiSourceDataset.context_batch`` returns.
        vectors: tells how many states a sentence of so many tokens has; default: one for each token.
    """
    states, padding = placed(states, padding, context["index"])
    counts = context["sizes"].counts(vectors)
    return ContextStates(states.flatten(1, 2), padding.flatten(1, 2), counts).compact()
