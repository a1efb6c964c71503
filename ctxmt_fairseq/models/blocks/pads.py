"""Handles pads in rows of states, wherever they are."""

from typing import Optional, Tuple

import torch
from torch import Tensor


def real_first(states: Tensor, padding: Tensor, width: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    """Move each row's real tokens, in their order, before its pads: states (R, L, D) and padding (R, L), or
    of each row the first ``width`` alone, (R, width, D) and (R, width)."""
    rows, length, _ = states.shape
    order = padding.long().argsort(dim=1, stable=True)[:, :width]
    flat = order + length * torch.arange(rows, device=order.device)[:, None]
    chosen = states.flatten(0, 1).index_select(0, flat.flatten())  # its gradient is cheaper than gather's
    return chosen.unflatten(0, order.shape), padding.gather(1, order)


def zero_pads(states: Tensor, padding: Tensor) -> Tensor:
    """Set ``states`` (..., D) to zero where ``padding`` (...) is true."""
    return states.masked_fill(padding.unsqueeze(-1), 0.0)


def real_mean(states: Tensor, padding: Tensor) -> Tensor:
    """The mean (..., D) of real tokens of ``states`` (..., L, D), which are zero at the pads; or zero."""
    return states.sum(-2) / (~padding).sum(-1, keepdim=True).clamp(min=1)


def softmaxable(padding: Tensor) -> Tensor:
    """The pads (R, L) that a softmax over L leaves out: none in a row of pads alone, which would give NaN."""
    return padding & ~padding.all(1, keepdim=True)
