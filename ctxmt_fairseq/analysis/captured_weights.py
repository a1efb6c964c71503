"""The weights of an attention to context, taken from a model as it runs."""

import contextlib
from typing import Any, Dict, Iterator, List, Optional, Tuple

from torch import Tensor

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.modules.context_attention import ContextAttention
from ctxmt_fairseq.modules.fusions import layer_fusions

SIDES = ("encoder", "decoder")


def context_attentions(model: Any, side: str) -> Dict[int, ContextAttention]:
    """Layer, from 1 -> its attention to context, where it has one."""
    return {
        number: module
        for number, layer in enumerate(getattr(getattr(model, side), "layers", ()), 1)
        for module in layer.modules()
        if isinstance(module, ContextAttention)
    }


def choose_attention(
    model: Any, side: Optional[str] = None, layer: Optional[int] = None
) -> Tuple[str, int, ContextAttention]:
    """The attention to look at: its side, its layer from 1, and the module.

    Args:
        side: "encoder" or "decoder"; default: the encoder, if it attends to context.
        layer: from 1; default: the last with attention to context.

    Raises:
        BadInput: the model has no such attention.
    """
    found = {name: context_attentions(model, name) for name in SIDES}
    found = {name: layers for name, layers in found.items() if layers}
    if not found:
        raise BadInput(
            "expected an attention to nothing but context (gated_context_transformer, "
            "context_encoder_transformer, or dual_encoder_, caching_ or mtcue_transformer with "
            f"--context-fusion {', '.join(layer_fusions())}), found {architecture(model, 'context-fusion')}"
        )
    side = side or next(iter(found))
    if side not in found:
        raise BadInput(f"--side {side}: expected {', '.join(found)} for {architecture(model)}")
    layer = max(found[side]) if layer is None else layer
    if layer not in found[side]:
        numbers = ", ".join(map(str, found[side]))
        raise BadInput(f"--layer {layer}: expected {numbers} for the {side} of {architecture(model)}")
    return side, layer, found[side][layer]


@contextlib.contextmanager
def captured_weights(attention: ContextAttention) -> Iterator[List[Tuple[Tensor, Tensor]]]:
    """Collects, of every call meanwhile, the weights (B, T, K), averaged over heads, and the padding (B, K)
    of the context, which hides the pads of rows that have any context."""
    calls: List[Tuple[Tensor, Tensor]] = []

    def ask(module: Any, args: Any, kwargs: Dict[str, Any]) -> Tuple[Any, Dict[str, Any]]:
        return args, {**kwargs, "need_weights": True}

    def keep(module: Any, args: Any, kwargs: Dict[str, Any], output: Tuple[Tensor, Tensor]) -> None:
        calls.append((output[1], kwargs["key_padding_mask"]))

    hooks = [
        attention.attention.register_forward_pre_hook(ask, with_kwargs=True),
        attention.attention.register_forward_hook(keep, with_kwargs=True),
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
