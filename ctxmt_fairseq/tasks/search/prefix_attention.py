"""Self-attention from the hypotheses of a sentence to the target context that they continue.

The context's keys and values are kept once for a sentence; fairseq's cache holds what each hypothesis adds.
"""

import contextlib
from typing import Any, Dict, Iterator, Optional, Tuple

import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn


class PrefixAttention:
    """Takes the place of a self-attention's ``forward`` while hypotheses are extended.

    Args:
        attention: fairseq's, in a decoder layer.
        states: (L, B, D) its input at the prefixes of B sentences.
        padding: BoolTensor (B, L), True behind a prefix, and everywhere for a sentence without prefix.
    """

    def __init__(self, attention: MultiheadAttention, states: Tensor, padding: Tensor):
        self.attention = attention
        shape = (*states.shape[:2], attention.num_heads, attention.head_dim)
        self.keys = attention.k_proj(states).view(shape).permute(1, 2, 3, 0).contiguous()  # (B, H, d, L)
        self.values = attention.v_proj(states).view(shape).permute(1, 2, 0, 3).contiguous()  # (B, H, L, d)
        self.padding = padding[:, None, None]  # (B, 1, 1, L)

    def keep(self, sentences: Tensor) -> None:
        """Forget all of the B sentences but these, LongTensor (b,)."""
        self.keys, self.values, self.padding = (
            kept.index_select(0, sentences) for kept in (self.keys, self.values, self.padding)
        )

    def __call__(
        self, query: Tensor, *args: Any, **options: Any
    ) -> Tuple[Tensor, None]:  # what fairseq's decoder layers call
        """Compute one step as fairseq's ``forward`` does, of (1, B * beam, D): the hypotheses of a sentence
        are side by side.

        One softmax covers both parts, prefix and suffix; then their weighted sums are added.
        """
        attention = self.attention
        steps, rows, _ = query.shape
        assert steps == 1, "a step has one token"
        sentences, heads, size, _ = self.keys.shape
        by_sentence = sentences, rows // sentences, heads
        queries: Dict[str, Tensor] = {}
        hook = attention.q_proj.register_forward_hook(
            lambda module, inputs, output: queries.update(projected=output * attention.scaling)
        )
        try:  # projections and the cache of what follows the prefix are fairseq's
            options = {**options, "before_softmax": True, "need_weights": False}
            suffix, values = type(attention).forward(attention, query, *args, **options)
        finally:
            hook.remove()
        projected = queries["projected"].view(*by_sentence, size).transpose(1, 2)  # (B, H, beam, d)
        prefix = (projected @ self.keys).masked_fill(self.padding, -torch.inf)
        suffix = suffix.view(*by_sentence, -1).transpose(1, 2)  # (B, H, beam, t)
        weights = torch.cat([prefix, suffix], dim=3).softmax(dim=3, dtype=torch.float32).type_as(query)
        weights = attention.dropout_module(weights)
        prefix, suffix = weights.split([prefix.size(3), suffix.size(3)], dim=3)
        attended = torch.bmm(suffix.transpose(1, 2).reshape(rows * heads, 1, -1), values)
        attended = attended.view(*by_sentence, size) + (prefix @ self.values).transpose(1, 2)
        return attention.out_proj(attended.reshape(1, rows, heads * size)), None


Prefixes = Dict[MultiheadAttention, PrefixAttention]


@contextlib.contextmanager
def read_by(decoder: nn.Module, padding: Tensor) -> Iterator[Prefixes]:
    """Make a ``PrefixAttention`` for each self-attention of the decoder from what it reads in the block.

    Args:
        padding: BoolTensor (B, L), True behind a prefix.
    """
    prefixes: Prefixes = {}

    def record(attention, args, kwargs):
        states = kwargs["query"] if "query" in kwargs else args[0]
        prefixes[attention] = PrefixAttention(attention, states, padding)

    handles = [
        module.register_forward_pre_hook(record, with_kwargs=True)
        for module in decoder.modules()
        if isinstance(module, MultiheadAttention) and module.self_attention
    ]
    try:
        yield prefixes
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def continued(prefixes: Optional[Prefixes]) -> Iterator[None]:
    """Have the self-attentions attend to their prefixes as well, within the block."""
    prefixes = prefixes or {}
    for attention, prefix in prefixes.items():
        attention.forward = prefix  # type: ignore[method-assign]
    try:
        yield
    finally:
        for attention in prefixes:
            del attention.forward
