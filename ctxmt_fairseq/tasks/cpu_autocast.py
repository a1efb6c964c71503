"""``--amp`` on CPUs: fairseq's means CUDA, and does nothing elsewhere."""

import functools
import logging
import warnings
from typing import Any, Callable, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

logger = logging.getLogger(__name__)

Criterion = Callable[[nn.Module, Any], Any]
INSTRUCTIONS = ("avx512_bf16", "amx_bf16")


def with_bfloat16_products(criterion: Criterion) -> Criterion:
    """A criterion, called as ``criterion(model, sample)``, with matrix products in bfloat16.

    Parameters, their gradients, normalisation, softmax and sums stay float32, as torch's autocast has it on
    CPUs, and so does attention between its projections.
    """
    _warn_of_slow_products()
    _keep_attention_in_float32()
    return torch.autocast("cpu", torch.bfloat16)(criterion)


@functools.cache
def _warn_of_slow_products() -> None:
    has = torch.cpu.get_capabilities()
    if has.get("architecture") == "x86_64" and not any(has.get(name) for name in INSTRUCTIONS):
        logger.warning("--amp: this CPU has none of %s; float32 is faster", ", ".join(INSTRUCTIONS))


@functools.cache
def _keep_attention_in_float32() -> torch.library.Library:
    """Take fused attention out of what autocast lowers on CPUs, for this process.

    A head's products over sentences of 20 tokens are too small for bfloat16: their backward pass is eight
    times as slow as in float32, which costs more than all else saves (docs/benchmarks.md).

    Returns:
        What holds the registration; torch takes it back when this is collected.
    """
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that something is overridden
        library.impl("scaled_dot_product_attention", _attention, "AutocastCPU", allow_override=True)
    return library


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **others: Any,
) -> Tensor:
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        attn_mask = attn_mask.float()
    with torch.autocast("cpu", enabled=False):
        return F.scaled_dot_product_attention(
            query.float(), key.float(), value.float(), attn_mask, dropout_p, is_causal, **others
        )
