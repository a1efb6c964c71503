"""Self-attention of all hypotheses of a sentence to the target context that they continue.

Its keys and values are kept once for a sentence; fairseq's cache holds only what each hypothesis has added.
"""

import contextlib
from typing import Any, Dict, Iterator, Optional, Tuple

import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn


class PrefixAttention:
    """What takes the place of a self-attention's ``forward`` while hypotheses are extended.

    Args:
        attention: fairseq's, of a decoder layer.
        states: (L, B, D) its input at the prefixes of B sentences.
        padding: BoolTensor (B, L), True behind a prefix; a sentence without one is True everywhere.
    """

    def __init__(self, attention: MultiheadAttention, states: Tensor, padding: Tensor):
        self.attention = attention
        shape = (*states.shape[:2], attention.num_heads, attention.head_dim)
        self.keys = attention.k_proj(states).view(shape).permute(1, 2, 3, 0).contiguous()  # (B, H, d, L)
        self.values = attention.v_proj(states).view(shape).permute(1, 2, 0, 3).contiguous()  # (B, H, L, d)
        self.padding = padding[:, None, None]  # (B, 1, 1, L)

    def keep(self, sentences: Tensor) -> None:
        """Forget all but these of the B sentences, LongTensor (b,)."""
        self.keys, self.values, self.padding = (
            kept.index_select(0, sentences) for kept in (self.keys, self.values, self.padding)
        )

    def __call__(
        self, query: Tensor, *args: Any, **options: Any
    ) -> Tuple[Tensor, None]:  # what fairseq's decoder layers call
        """One step: fairseq's ``forward`` of (1, B * beam, D), the hypotheses of a sentence side by side.

        One softmax over both parts, prefix and suffix, whose sums are then added.
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
    """A ``PrefixAttention`` of each self-attention in the decoder, of what it is given meanwhile.

    Args:
        padding: BoolTensor (B, L) of the prefixes.
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
    """Let the self-attentions attend to their prefixes as well."""
    prefixes = prefixes or {}
    for attention, prefix in prefixes.items():
        attention.forward = prefix  # type: ignore[method-assign]
    try:
        yield
    finally:
        for attention in prefixes:
            del attention.forward
