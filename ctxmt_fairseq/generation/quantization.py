"""Eight-bit matrix products of a model on a CPU."""

import warnings
from typing import Sequence

import torch
from torch import nn

from ctxmt_fairseq.base.errors import BadInput

QUANTIZATIONS = ("int8",)
# The feed-forward and output layers, as fairseq calls them. Its attentions read their weights by themselves.
_LAYERS = ("fc1", "fc2", "output_projection")


def quantize(models: Sequence[nn.Module]) -> None:
    """Replace the feed-forward and output layers of models in evaluation by torch's dynamic ones: weights in
    int8, one scale for each layer, and states in int8 from product to product."""
    if any(next(model.parameters()).device.type != "cpu" for model in models):
        raise BadInput("--quantization int8 computes on a CPU: add --cpu")
    if any(hasattr(model, "search_class") for model in models):
        raise BadInput("--quantization: was exported already; ctxmt export --quantization int8 does it")
    if torch.backends.quantized.engine in (None, "none"):
        raise BadInput("--quantization int8: torch has no 8-bit products for this processor")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it moves to torchao, which is no dependency
        for model in models:
            layers = {
                name: torch.ao.quantization.default_dynamic_qconfig
                for name, module in model.named_modules()
                if type(module) is nn.Linear and name.rpartition(".")[2] in _LAYERS
            }
            torch.ao.quantization.quantize_dynamic(model, layers, inplace=True)
