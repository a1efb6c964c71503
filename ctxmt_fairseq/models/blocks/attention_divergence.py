"""Measures how far an attention is from looking at what it should look at."""

import contextlib
import math
from functools import partial
from typing import Any, Dict, Iterator, Mapping, Tuple

import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor

_HIDDEN = -1e9  # the score of a hidden key; unlike that of minus infinity, its gradient is a number


@contextlib.contextmanager
def first_inputs(attentions: Mapping[str, MultiheadAttention]) -> Iterator[Dict[str, Dict[str, Any]]]:
    """Collect the arguments with which each attention is first called in the block, by its name."""
    found: Dict[str, Dict[str, Any]] = {}

    def keep(name: str, module: Any, args: Any, kwargs: Dict[str, Any]) -> None:
        found.setdefault(name, kwargs)

    hooks = [
        module.register_forward_pre_hook(partial(keep, name), with_kwargs=True)
        for name, module in attentions.items()
    ]
    try:
        yield found
    finally:
        for each in hooks:
            each.remove()


def log_attention(
    attention: MultiheadAttention, inputs: Mapping[str, Any], rows: Tensor, queries: Tensor
) -> Tensor:
    """Compute the logarithms of the heads' mean weights from some queries to all keys, before attention
    dropout: (n, S) float32, with a very negative number where a key is hidden.

    They are computed for these queries (rows and places (n,)) alone, apart from the attention, which uses the
    fused kernel. ``inputs`` are its arguments: ``query`` (T, B, C), ``key`` (S, B, C), ``key_padding_mask``
    (B, S) or None, ``attn_mask`` (T, S) or None."""
    query, key = inputs["query"][queries, rows], inputs["key"][:, rows]
    heads, width = attention.num_heads, attention.head_dim
    q = attention.q_proj(query).unflatten(-1, (heads, width)) * attention.scaling
    k = attention.k_proj(key).unflatten(-1, (heads, width))
    scores = torch.einsum("nhc,snhc->nhs", q, k).float()
    padding, mask = inputs.get("key_padding_mask"), inputs.get("attn_mask")
    if padding is not None:
        scores = scores.masked_fill(padding[rows].bool().unsqueeze(1), _HIDDEN)
    if mask is not None:
        chosen = mask[queries].unsqueeze(1)
        scores = scores.masked_fill(chosen if chosen.dtype == torch.bool else chosen < 0, _HIDDEN)
    return scores.log_softmax(-1).logsumexp(1) - math.log(heads)


def divergence(logs: Tensor, keys: Tensor) -> Tuple[Tensor, Tensor]:
    """Compute KL(uniform over ``keys`` || attention), in nats, and the share of attention that goes to them,
    both (n,), from its logarithms (n, S) and a mask (n, S) with at least one key in each row."""
    many = keys.sum(-1)
    cross_entropy = -logs.masked_fill(~keys, 0.0).sum(-1) / many
    return cross_entropy - many.log(), (logs.exp() * keys).sum(-1)
