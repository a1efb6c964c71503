"""Rows of a batch computed in groups of like length, with the result of computing all at once."""

from typing import Callable, NamedTuple, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from ctxmt_fairseq.data.length_groups import Group
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.encoder_out import PREFIX, EncoderOut

DECODER_GROUPS = "decoder_groups"  # in ``encoder_out``; lost where its rows change places


class DecoderGroup(NamedTuple):
    """Rows that the decoder computes by themselves.

    Attributes:
        rows: which.
        target: the longest one's target tokens.
        pads: that all of them have before the source.
        context: the most vectors that a row's context has; None if the host does not know.
    """

    rows: slice
    target: int
    pads: int
    context: Optional[int]


def encode_in_groups(
    encode: Callable[[Tensor, Group], EncoderOut], tokens: Tensor, groups: Sequence[Group], left_padded: bool
) -> EncoderOut:
    """What an encoder makes of tokens (R, L), with zeros at the pads that no group has: states, padding, and
    entries (R, ...) of its own, whose names start with ``context_``.

    Args:
        encode: the tokens of a group without these pads -> fairseq's ``encoder_out``.
        groups: all rows, with their width first.
        left_padded: pads stand before the tokens.
    """
    outs, states, padding = [], [], []
    for group in groups:
        pads = tokens.size(1) - group.widths[0]
        part = tokens[group.rows, pads:] if left_padded else tokens[group.rows, : group.widths[0]]
        out = encode(part, group)
        sides = (pads, 0) if left_padded else (0, pads)
        states.append(F.pad(out["encoder_out"][0], (0, 0, 0, 0, *sides)))
        padding.append(F.pad(out["encoder_padding_mask"][0], sides, value=True))
        outs.append(out)
    joined: EncoderOut = {
        name: [torch.cat(parts) for parts in zip(*(out[name] for out in outs), strict=True)]
        for name in outs[0]
        if name.startswith(PREFIX)
    }
    return {
        **dict.fromkeys(outs[0], []),
        **joined,
        "encoder_out": [torch.cat(states, dim=1)],
        "encoder_padding_mask": [torch.cat(padding)],
    }


def encode_sentences(
    encode: Callable[[Tensor], EncoderOut], tokens: Tensor, groups: Sequence[Group]
) -> EncoderOut:
    """What an encoder makes of right-padded sentences (R, L), in these groups; without any all at once."""
    if not groups:
        return encode(tokens)
    return encode_in_groups(lambda part, _: encode(part), tokens, groups, left_padded=False)


def decode_in_groups(
    decode: Callable[[Tensor, EncoderOut], Tensor], tokens: Tensor, encoder_out: EncoderOut
) -> Tensor:
    """Features (B, T, D) of the decoder's input (B, T), with zeros at the pads that no group has.

    Args:
        decode: a group's tokens and ``encoder_out`` without these pads -> its features.
        encoder_out: with ``DECODER_GROUPS``.
    """
    features = []
    for group in encoder_out[DECODER_GROUPS]:
        part = decode(tokens[group.rows, : group.target], _of_group(encoder_out, group))
        features.append(F.pad(part, (0, 0, 0, tokens.size(1) - part.size(1))))
    return torch.cat(features)


def _of_group(encoder_out: EncoderOut, group: DecoderGroup) -> EncoderOut:
    """The ``encoder_out`` of a group's rows, without the pads that only others need."""
    own = {
        name: [entry[group.rows] for entry in entries] if name.startswith(PREFIX) else []
        for name, entries in encoder_out.items()
    }
    context = ContextStates.of(encoder_out)
    if context is not None:
        own.update(context.of_rows(group.rows, group.context).entries())
    return {
        **own,
        "encoder_out": [encoder_out["encoder_out"][0][group.pads :, group.rows]],
        "encoder_padding_mask": [encoder_out["encoder_padding_mask"][0][group.rows, group.pads :]],
    }
