"""Attention of the steps of a search: caches that are written in place and never reordered.

All hypotheses of a sentence share a cache, in which every step of each has a place of its own. What a
hypothesis sees of it is its row of a mask, one for all layers; when hypotheses change places, these rows do.
"""

import contextlib
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn

_ROOM = 16  # steps that a new cache has room for


def is_fairseqs(attention: nn.Module) -> bool:
    """Whether it computes what is computed here: fairseq's attention, without its rarer options."""
    return (
        type(attention) is MultiheadAttention
        and attention.bias_k is None
        and not attention.add_zero_attn
        and not attention.dropout_module.apply_during_inference
        and all(type(getattr(attention, name)) is nn.Linear for name in ("q_proj", "k_proj", "v_proj"))
    )


class SourceAttention:
    """Takes the place of the ``forward`` of an attention to what the hypotheses of a sentence share."""

    def __init__(self, attention: MultiheadAttention, steps: "Steps"):
        self.attention, self.steps = attention, steps
        self.keys: Optional[Tensor] = None  # (B, H, S, d)
        self.values: Optional[Tensor] = None
        self.mask: Optional[Tensor] = None  # (B, 1, 1, S)

    def keep(self, sentences: Tensor) -> None:
        """Forget all of the B sentences but these, LongTensor (b,)."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[sentences], self.values[sentences]
            self.mask = None if self.mask is None else self.mask[sentences]

    def _read(self, states: Tensor, padding: Optional[Tensor]) -> None:
        attention, beam = self.attention, self.steps.beam
        states = states[:, ::beam]
        shape = *states.shape[:2], attention.num_heads, attention.head_dim
        self.keys = attention.k_proj(states).view(shape).permute(1, 2, 0, 3).contiguous()
        self.values = attention.v_proj(states).view(shape).permute(1, 2, 0, 3).contiguous()
        if padding is not None:
            mask = self.steps.mask.new_zeros(states.size(1), 1, 1, states.size(0))
            self.mask = mask.masked_fill_(padding[::beam, None, None].bool(), -torch.inf)

    def __call__(
        self, query: Tensor, key: Any, value: Any, *args: Any, **options: Any
    ) -> Tuple[Tensor, Optional[Tensor]]:
        """Compute one step as fairseq's ``forward`` does, of (1, B * beam, D)."""
        attention = self.attention
        step = options.get("incremental_state") is not None and options.get("static_kv")
        if args or not step or options.get("need_weights", True):
            return type(attention).forward(attention, query, key, value, *args, **options)
        if self.keys is None:
            self._read(key, options.get("key_padding_mask"))
        queries = attention.q_proj(query).view(-1, self.steps.beam, attention.num_heads, attention.head_dim)
        attended = F.scaled_dot_product_attention(
            queries.transpose(1, 2), self.keys, self.values, self.mask, scale=attention.scaling
        )
        return attention.out_proj(attended.transpose(1, 2).reshape(query.shape)), None


class SelfAttention:
    """The ``forward`` of a self-attention whose input at the prefixes, if any, was ``states`` (L, B, D)."""

    def __init__(self, attention: MultiheadAttention, steps: "Steps", states: Optional[Tensor]):
        self.attention, self.steps = attention, steps
        parts = attention.q_proj, attention.k_proj, attention.v_proj
        self.weight = torch.cat([part.weight for part in parts])
        self.bias = None if parts[0].bias is None else torch.cat([part.bias for part in parts])
        shape = 2, len(steps.mask), attention.num_heads, 0, attention.head_dim
        self.cache = self.weight.new_empty(shape)  # keys and values of (B, H, places, d)
        if states is not None:
            projected = F.linear(states, self.weight, self.bias).view(*states.shape[:2], 3, *shape[2::2])
            self.cache = projected[:, :, 1:].permute(2, 1, 3, 0, 4)
        self.prefixed = states is not None

    def keep(self, sentences: Tensor) -> None:
        """Forget all of the B sentences but these, LongTensor (b,)."""
        self.cache = self.cache[:, sentences]

    def __call__(
        self, query: Tensor, key: Any, value: Any, *args: Any, **options: Any
    ) -> Tuple[Tensor, Optional[Tensor]]:
        """Compute one step as fairseq's ``forward`` does, of (1, B * beam, D)."""
        attention, steps = self.attention, self.steps
        step = options.get("incremental_state") is not None and not options.get("need_weights", True)
        if not step and not self.prefixed:
            return type(attention).forward(attention, query, key, value, *args, **options)
        shape = -1, steps.beam, 3, attention.num_heads, attention.head_dim
        projected = F.linear(query, self.weight, self.bias).view(shape).permute(2, 0, 3, 1, 4)
        missing = steps.mask.size(2) - self.cache.size(3)
        if missing:
            self.cache = F.pad(self.cache.type_as(projected), (0, 0, 0, missing))
        self.cache[:, :, :, steps.used - steps.beam : steps.used] = projected[1:]
        keys, values = self.cache[:, :, :, : steps.used]
        attended = F.scaled_dot_product_attention(
            projected[0], keys, values, steps.visible, scale=attention.scaling
        )
        return attention.out_proj(attended.transpose(1, 2).reshape(query.shape)), None


class Steps:
    """What the attentions of a decoder keep of B sentences, each with ``beam`` hypotheses.

    Attentions that are not fairseq's own do as they do in fairseq's search.

    Args:
        padding: BoolTensor (B, L), True behind a sentence's prefix.
        states: of each self-attention, its input (L, B, D) at the prefixes.
    """

    def __init__(
        self, decoder: nn.Module, beam: int, padding: Tensor, states: Mapping[MultiheadAttention, Tensor]
    ):
        self.beam, self.used = beam, padding.size(1)
        kind = next(decoder.parameters()).dtype
        size = len(padding), beam, self.used + _ROOM * beam
        self.mask = torch.full(size, -torch.inf, dtype=kind, device=padding.device)
        self.mask[:, :, : self.used].masked_fill_(~padding[:, None], 0.0)
        self.visible = self.mask
        self.attentions: Dict[MultiheadAttention, Any] = {}
        for module in filter(is_fairseqs, decoder.modules()):
            if module.self_attention:
                self.attentions[module] = SelfAttention(module, self, states.get(module))
            elif module.encoder_decoder_attention and module.beam_size == beam:  # who has been told of it
                self.attentions[module] = SourceAttention(module, self)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Have the decoder compute one token more of each hypothesis, within the block."""
        begin, self.used = self.used, self.used + self.beam
        if self.used > self.mask.size(2):
            self.mask = F.pad(self.mask, (0, self.mask.size(2)), value=-torch.inf)
        self.mask[:, :, begin : self.used].diagonal(dim1=1, dim2=2).zero_()
        self.visible = self.mask[:, None, :, : self.used]
        for attention, step in self.attentions.items():
            attention.forward = step
        try:
            yield
        finally:
            for attention in self.attentions:
                del attention.forward

    def reorder(self, order: Tensor) -> None:
        """Have hypotheses change places within their sentences, or whole sentences leave: LongTensor rows."""
        rows = self.mask.flatten(0, 1)
        self.mask = rows[order].view(-1, self.beam, self.mask.size(2))
        if len(order) < len(rows):
            sentences = order[:: self.beam] // self.beam
            for attention in self.attentions.values():
                attention.keep(sentences)
