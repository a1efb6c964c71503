"""Rows without pads between their tokens."""

from typing import Optional, Tuple

import torch
from torch import Tensor


def real_first(states: Tensor, padding: Tensor, width: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    """Each row's real tokens in their order, then its pads: states (R, L, D) and padding (R, L).

    Args:
        width: return the first so many of each row, (R, width, D) and (R, width); default: all.
    """
    rows, length, _ = states.shape
    order = padding.long().argsort(dim=1, stable=True)[:, :width]
    flat = order + length * torch.arange(rows, device=order.device)[:, None]
    chosen = states.flatten(0, 1).index_select(0, flat.flatten())  # its gradient is cheaper than gather's
    return chosen.unflatten(0, order.shape), padding.gather(1, order)
