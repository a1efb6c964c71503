"""Rows of a batch computed in groups of like length, with the result of computing all at once.

Only the two sides of a model (``ContextEncoder``, ``Decoder``) and ``RowsEncoder`` know of this.
"""

from typing import Callable, Optional, Sequence, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ctxmt_fairseq.data.length_groups import Group
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.encoder_out import PREFIX, EncoderOut

# In ``encoder_out``: the groups, the context's counts, and the source's width; lost where rows change places.
GROUPS = "decoder_groups"


def encode_in_groups(
    encode: Callable[[Tensor, slice], EncoderOut], tokens: Tensor, groups: Sequence[Group], left: bool = False
) -> EncoderOut:
    """What an encoder makes of tokens (R, L), with zeros at the pads that no group has: states, padding, and
    entries (R, ...) of its own, whose names start with ``context_``. Without groups all at once.

    Args:
        encode: the tokens of a group without these pads, and its rows -> fairseq's ``encoder_out``.
        groups: all rows, with their width first.
        left: pads stand before the tokens.
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
    """Features (B, T, D) of the decoder's input (B, T), with zeros at the pads that no group has.

    Args:
        decode: a group's tokens and ``encoder_out`` without these pads -> its features.
        encoder_out: with ``GROUPS``.
    """
    groups, counts, width = encoder_out[GROUPS]
    features = []
    for group in groups:
        own = _of_rows(encoder_out, group.rows, width - group.widths[0], counts)
        part = decode(tokens[group.rows, : group.widths[1]], own)
        features.append(F.pad(part, (0, 0, 0, tokens.size(1) - part.size(1))))
    return torch.cat(features)


def _of_rows(encoder_out: EncoderOut, rows: slice, pads: int, counts: Optional[np.ndarray]) -> EncoderOut:
    """The ``encoder_out`` of some rows, without the pads before the source that only others need."""
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


def named_groups(groups: Tuple[Group, ...], context: Optional[ContextStates], width: int) -> EncoderOut:
    """The entry that ``decode_in_groups`` reads: none without groups.

    Args:
        width: of the source.
    """
    return {GROUPS: [groups, None if context is None else context.counts, width]} if groups else {}
