"""Takes the weights of an attention to context from a model as it runs."""

import contextlib
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from fairseq.modules import MultiheadAttention
from torch import Tensor

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.context_attention import ContextAttention
from ctxmt_fairseq.models.blocks.fusions import layer_fusions

SIDES = ("encoder", "decoder")
Hook = Callable[[Any, Any, Dict[str, Any], Any], None]  # (module, arguments, keyword arguments, output)


def context_attentions(model: Any, side: str) -> Dict[int, ContextAttention]:
    """Layer, from 1 -> its attention to context, for layers that have one."""
    return {
        number: module
        for number, layer in enumerate(getattr(getattr(model, side), "layers", ()), 1)
        for module in layer.modules()
        if isinstance(module, ContextAttention)
    }


def choose_attention(
    model: Any, side: Optional[str] = None, layer: Optional[int] = None
) -> Tuple[str, int, ContextAttention]:
    """The attention to look at: its side, its layer (from 1) and the module. By default it is that of the
    encoder, if this attends to context, in the last layer that does."""
    found = {name: context_attentions(model, name) for name in SIDES}
    found = {name: layers for name, layers in found.items() if layers}
    if not found:
        raise BadInput(
            "expected a model with an attention to context alone (gated_context_transformer, "
            "context_encoder_transformer, or dual_encoder_, caching_ or mtcue_transformer with "
            f"--context-fusion {', '.join(layer_fusions())}), found {architecture(model, 'context-fusion')}"
        )
    side = side or next(iter(found))
    if side not in found:
        raise BadInput(f"--side {side}: expected {' or '.join(found)} for {architecture(model)}")
    layer = max(found[side]) if layer is None else layer
    if layer not in found[side]:
        numbers = ", ".join(map(str, found[side]))
        raise BadInput(f"--layer {layer}: expected one of {numbers} for the {side} of {architecture(model)}")
    return side, layer, found[side][layer]


def choose_window_attention(
    model: Any, side: Optional[str] = None, layer: Optional[int] = None
) -> Tuple[str, int, Any]:
    """Do so for a model of windows: the attention of its decoder to the source (the default), or of its
    encoder to itself, in the last layer by default."""
    side = side or "decoder"
    layers = list(getattr(getattr(model, side), "layers", ()))
    name = "encoder_attn" if side == "decoder" else "self_attn"
    attention = {number: getattr(each, name, None) for number, each in enumerate(layers, 1)}
    if not layers or not all(isinstance(each, MultiheadAttention) for each in attention.values()):
        raise BadInput(f"expected a transformer's attention in the {side}, found {architecture(model)}")
    layer = len(layers) if layer is None else layer
    if layer not in attention:
        raise BadInput(
            f"--layer {layer}: expected 1 to {len(layers)} for the {side} of {architecture(model)}"
        )
    return side, layer, attention[layer]


@contextlib.contextmanager
def asked_for_weights(hooks: Iterable[Tuple[Any, Hook]], **wanted: bool) -> Iterator[None]:
    """Let attentions return their weights, and call their hooks after each of their calls. ``wanted`` are
    keyword arguments that this takes besides ``need_weights``."""

    def ask(module: Any, args: Any, kwargs: Dict[str, Any]) -> Tuple[Any, Dict[str, Any]]:
        return args, {**kwargs, "need_weights": True, **wanted}

    with contextlib.ExitStack() as end:
        for attention, hook in hooks:
            end.callback(attention.register_forward_pre_hook(ask, with_kwargs=True).remove)
            end.callback(attention.register_forward_hook(hook, with_kwargs=True).remove)
        yield


@contextlib.contextmanager
def captured_weights(attention: Any) -> Iterator[List[Tuple[Tensor, Tensor]]]:
    """Collect from every call within the block the weights (B, T, K), averaged over heads, and the padding
    (B, K) of what is attended to, which hides the pads of rows that have any context."""
    calls: List[Tuple[Tensor, Tensor]] = []

    def keep(module: Any, args: Any, kwargs: Dict[str, Any], output: Tuple[Tensor, Tensor]) -> None:
        weights, padding = output[1], kwargs["key_padding_mask"]
        calls.append((weights, weights.new_zeros(weights[:, 0].shape).bool() if padding is None else padding))

    with asked_for_weights([(getattr(attention, "attention", attention), keep)]):
        yield calls
