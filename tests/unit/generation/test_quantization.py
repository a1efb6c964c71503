"""Eight-bit layers: near what they replace, on a CPU alone."""

import warnings

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.quantization import quantize
from ctxmt_fairseq.translator import Translator
from tests.helpers.steps import STOCK, SYSTEMS, batch, build


def products(layer, states):
    """8-bit products by hand: weights of one scale for the layer, states of one scale and zero for all."""
    weight = layer.weight.double()
    scale = weight.abs().max() / 127.5
    weight = (weight / scale).round().clamp(-128, 127) * scale
    least, most = states.double().min().clamp(max=0), states.double().max().clamp(min=0)
    step = (most - least) / 127  # torch uses half of the range on x86
    zero = (-least / step).round()
    states = ((states.double() / step).round() + zero).clamp(0, 127) - zero
    return (states * step) @ weight.T + layer.bias.double()


def test_a_layer_is_computed_in_eight_bits():
    torch.manual_seed(1)
    block = torch.nn.Module()
    block.fc1, block.other = torch.nn.Linear(48, 32), torch.nn.Linear(4, 4)
    layer, other, states = block.fc1, block.other, torch.randn(5, 48)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # torch warns once in a process of what is to come
        quantize([block])
    assert block.other is other
    torch.testing.assert_close(block.fc1(states).double(), products(layer, states), atol=0.02, rtol=0)
    assert (block.fc1(states) - layer(states)).abs().max() > 1e-4


@pytest.mark.parametrize("system", [STOCK, *SYSTEMS], ids=["stock", *SYSTEMS])
def test_every_architecture_computes_nearly_the_same(system):
    task, model = build(system)
    sample = batch(task)
    model.eval()
    with torch.no_grad():
        expected = model(**sample["net_input"])[0].log_softmax(-1)
        quantize([model])
        found = model(**sample["net_input"])[0].log_softmax(-1)
    difference = (found - expected).abs().max()
    assert 0 < difference < 0.3


def test_refusals():
    with pytest.raises(BadInput, match="expected int8, found 'int4'"):
        Translator.load("nowhere.pt", quantization="int4")
    with pytest.raises(BadInput, match="computes on a CPU"):
        quantize([torch.nn.Linear(2, 2, device="meta")])
