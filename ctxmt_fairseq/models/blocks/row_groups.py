"""Computes the rows of a batch in groups of similar length, with the same result as all at once.

Only the two sides of a model (``ContextEncoder``, ``Decoder``) and ``RowsEncoder`` know of this.
"""

from typing import Callable, Optional, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ctxmt_fairseq.data.length_groups import Group
from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.encoder_out import PREFIX, EncoderOut

# In ``encoder_out``: the groups, the context's counts, and the source's width; lost where rows change places.
GROUPS = "decoder_groups"


def encode_in_groups(
    encode: Callable[[Tensor, slice], EncoderOut], tokens: Tensor, groups: Sequence[Group], left: bool = False
) -> EncoderOut:
    """Encode tokens (R, L) group by group, or all at once if there are no groups; returns the ``encoder_out``
    of all rows, with zeros at the pads that groups did not need.

    Args:
        encode: the tokens of a group, without the pads that it does not need, and its rows -> fairseq's
            ``encoder_out``. It may have entries (R, ...) whose names start with ``context_``.
        groups: they cover all rows; their first width is that of these tokens.
        left: whether pads come before the tokens.
    """
    if not groups:
        return encode(tokens, slice(None))
    outs = []
    for group in groups:
        pads = tokens.size(1) - group.widths[0]
        part = tokens[group.rows, pads:] if left else tokens[group.rows, : group.widths[0]]
        out = encode(part, group.rows)
        sides = (pads, 0) if left else (0, pads)
        states = F.pad(out["encoder_out"][0], (0, 0, 0, 0, *sides)).transpose(0, 1)
        padding = F.pad(out["encoder_padding_mask"][0], sides, value=True)
        outs.append({**out, "encoder_out": [states], "encoder_padding_mask": [padding]})
    names = ["encoder_out", "encoder_padding_mask", *(name for name in outs[0] if name.startswith(PREFIX))]
    joined = {
        name: [torch.cat(parts) for parts in zip(*(out[name] for out in outs), strict=True)] for name in names
    }
    joined["encoder_out"] = [states.transpose(0, 1) for states in joined["encoder_out"]]
    return {**dict.fromkeys(outs[0], []), **joined}  # fairseq's other entries are not asked for here


def decode_in_groups(
    decode: Callable[[Tensor, EncoderOut], Tensor], tokens: Tensor, encoder_out: EncoderOut
) -> Tensor:
    """Compute the features (B, T, D) of the decoder's input (B, T) by the groups of rows that ``encoder_out``
    has; they are zero at the pads that groups did not need. ``decode`` makes the features of a group's tokens
    and ``encoder_out``, without the pads that it does not need."""
    groups, counts, width = encoder_out[GROUPS]
    features = []
    for group in groups:
        own = _of_rows(encoder_out, group.rows, width - group.widths[0], counts)
        part = decode(tokens[group.rows, : group.widths[1]], own)
        features.append(F.pad(part, (0, 0, 0, tokens.size(1) - part.size(1))))
    return torch.cat(features)


def _of_rows(encoder_out: EncoderOut, rows: slice, pads: int, counts: Optional[np.ndarray]) -> EncoderOut:
    """Take some rows of ``encoder_out``, without the pads before the source that only other rows need."""
    own = {
        name: [entry[rows] for entry in entries] if name.startswith(PREFIX) else []
        for name, entries in encoder_out.items()
    }
    context = ContextStates.of(encoder_out)
    if context is not None:
        own.update(context._replace(counts=counts).of_rows(rows).entries())
    return {
        **own,
        "encoder_out": [encoder_out["encoder_out"][0][pads:, rows]],
        "encoder_padding_mask": [encoder_out["encoder_padding_mask"][0][rows, pads:]],
    }
