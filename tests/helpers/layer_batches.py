"""Layers with context on a batch of four rows, for tests: source and context are padded anywhere, row 1 has
no context."""

import numpy as np
import pytest
import torch

from ctxmt_fairseq.models.blocks.context_attention import ContextStates, given_context
from tests.helpers.numpy_layers import array, linear, sigmoid

D, S, K, T = 128, 6, 7, 5
PRE_NORM = {"encoder_normalize_before": True, "decoder_normalize_before": True}
both_norms = pytest.mark.parametrize("pre_norm", [False, True], ids=["post-norm", "pre-norm"])
SOURCE_PADS = torch.tensor([[0] * 6, [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1], [0] * 6]).bool()
CONTEXT_PADS = torch.tensor(
    [[0, 0, 0, 1, 0, 0, 1], [1] * 7, [0] * 7, [1, 1, 1, 0, 1, 1, 1]]  # row 1 has no context
).bool()


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def options(pre_norm):
    return PRE_NORM if pre_norm else {}


CONTEXT = ContextStates(random(4, K, D, seed=1), CONTEXT_PADS)
SOURCE = random(S, 4, D, seed=2)
TARGET = random(T, 4, D, seed=3)


def rows(states, padding):
    """Each row's states (B, L, D) without its pads."""
    return [array(row)[~pads.numpy()] for row, pads in zip(states, padding, strict=True)]


SOURCES, CONTEXTS = rows(SOURCE.transpose(0, 1), SOURCE_PADS), rows(CONTEXT.states, CONTEXT_PADS)


def same(found, expected):
    np.testing.assert_allclose(found, expected, atol=2e-5, rtol=1e-4)


def encode(layer, context=CONTEXT):
    """The layer's output for every row, without pads."""
    with torch.no_grad(), given_context(layer, context):
        return rows(layer(SOURCE, SOURCE_PADS).transpose(0, 1), SOURCE_PADS)


def decode(layer, context=CONTEXT):
    mask = torch.full((T, T), -torch.inf).triu(1)
    with torch.no_grad(), given_context(layer, context):
        output = layer(TARGET, SOURCE, SOURCE_PADS, self_attn_mask=mask)[0]
    return array(output.transpose(0, 1))


def residual_gate(gate, favours_sublayer):
    """lambda of section 5.2 as the way to join a sub-layer's input and output."""

    def join(x, y):
        g = sigmoid(linear(gate.of_input, x) + linear(gate.of_sublayer, y))
        return g * y + (1 - g) * x if favours_sublayer else g * x + (1 - g) * y

    return join


def stock_layer(layer, kind, model):
    """fairseq's layer with the same weights."""
    stock = kind(model.cfg).eval()
    own = layer.state_dict()
    stock.load_state_dict({name: own[name] for name in stock.state_dict()})
    return stock


def force(linear_layer, bias):
    torch.nn.init.constant_(linear_layer.bias, bias)
