"""``--amp`` on CPUs, where fairseq's own does nothing because it is CUDA's."""

import functools
import logging
import warnings
from typing import Any, Callable, Dict, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctxmt_fairseq.base.errors import BadInput

logger = logging.getLogger(__name__)

Criterion = Callable[[nn.Module, Any], Any]
INSTRUCTIONS = ("avx512_bf16", "amx_bf16")


def with_bfloat16_products(model: nn.Module, criterion: Criterion) -> Criterion:
    """Have a criterion, called as ``criterion(model, sample)``, compute matrix products in bfloat16.
    Parameters, their gradients, normalisation, softmax and sums stay float32, as in torch's autocast on CPUs,
    and so does attention between its projections. Dropout draws its numbers in another way. Models that
    compute activations again for the backward pass are refused, because autocast would not see that."""
    if any(hasattr(module, "precheckpoint_forward") for module in model.modules()):
        raise BadInput("--amp with --cpu does not work with --checkpoint-activations")
    _adapt_autocast()
    return torch.autocast("cpu", torch.bfloat16)(criterion)


def bfloat16_products(device: str) -> torch.autocast:
    """The same for all models that run in the block, on ``cpu`` or ``cuda``."""
    if device == "cpu":
        _adapt_autocast()
    return torch.autocast(device, torch.bfloat16)


def has_fast_products() -> bool:
    """Whether this CPU multiplies faster in bfloat16 than in float32; assumed if torch does not tell."""
    has: Dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # of recent releases
    return has.get("architecture") != "x86_64" or any(has.get(name) for name in INSTRUCTIONS)


@functools.cache
def _adapt_autocast() -> torch.library.Library:
    """Give torch's autocast on CPUs another attention and dropout, while the registration lives."""
    if not has_fast_products():
        logger.warning("bfloat16: this CPU has none of %s; float32 is faster", ", ".join(INSTRUCTIONS))
    # fairseq also asks for CUDA's autocast at every step, and torch would warn each time.
    warnings.filterwarnings("ignore", "CUDA is not available or torch_xla is imported. Disabling autocast")
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that something is overridden
        library.impl("scaled_dot_product_attention", _attention, "AutocastCPU")
        library.impl("dropout", dropout, "AutocastCPU")
    return library


def dropout(values: Tensor, p: float, train: bool) -> Tensor:
    """Do what ``torch.dropout`` does, with 16 random bits for each number of a mask.

    torch draws 64 for each, which takes up to a seventh of a training step of a small model. ``p`` is
    rounded to a multiple of 2 ** -16, and the values that are kept are scaled by the rounded ``p``.
    """
    dropped = round(p * 2**16)
    if not train or dropped == 0:
        return values
    if dropped == 2**16:
        return values * 0.0
    count = values.numel()
    bits = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    kept = bits[:count].view(values.shape) >= dropped - 2**15
    return values * kept.to(values.dtype).mul_(2**16 / (2**16 - dropped))


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **others: Any,
) -> Tensor:
    """Compute ``scaled_dot_product_attention`` of (B, H, n, d) and (B, H, m, d), (B, H, n, d), in float32.

    A head's products over sentences of 20 tokens are too small for bfloat16: their backward pass would be
    eight times as slow, which costs more than everything else saves.
    """
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        attn_mask = attn_mask.float()
    with torch.autocast("cpu", enabled=False):
        return F.scaled_dot_product_attention(
            query.float(), key.float(), value.float(), attn_mask, dropout_p, is_causal, **others
        )
