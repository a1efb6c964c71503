"""Gates and encoder layers with context, against NumPy written from the papers' equations, row by row."""

import numpy as np
import pytest
import torch
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.context_layers import ContextEncoderLayer
from ctxmt_fairseq.models.blocks.gates import BranchGate, ResidualGate, SumGate
from tests.helpers.layer_batches import (
    CONTEXT,
    CONTEXT_PADS,
    CONTEXTS,
    PRE_NORM,
    SOURCES,
    TARGET,
    D,
    T,
    both_norms,
    encode,
    force,
    options,
    random,
    residual_gate,
    same,
    stock_layer,
)
from tests.helpers.multi_source_models import make
from tests.helpers.numpy_layers import array, attend, feed_forward, linear, sigmoid, sublayer

# ---- gates -----------------------------------------------------------------------------------------------


def gate_inputs():
    torch.manual_seed(5)
    source, context = TARGET, random(T, 4, D, seed=4)
    return source, context, array(source), array(context)


def test_voitas_gated_sum():
    """Equations 1 and 2."""
    source, context, a, b = gate_inputs()
    gate = SumGate(D)
    g = sigmoid(linear(gate.projection, np.concatenate([a, b], axis=-1)))
    same(array(gate(source, context)), g * a + (1 - g) * b)


def test_gate_on_a_branch():
    """Sequence shortening, equation 5: one number for each token."""
    _, context, _, b = gate_inputs()
    gate = BranchGate(D)
    g = sigmoid(linear(gate.projection, b))
    assert g.shape == (T, 4, 1)
    same(array(gate(context)), g * b)


@pytest.mark.parametrize("favour", ["sublayer", "input"])
def test_residual_gate(favour):
    """The thesis, section 5.2: sigmoid(x Wi + bi + y Ws + bs) of the sub-layer's input x and output y."""
    input_, output, x, y = gate_inputs()
    gate = ResidualGate(D, favour)
    for part in (gate.of_input, gate.of_sublayer):
        assert not part.bias.any() and part.weight.abs().max() <= np.sqrt(6 / (D + D))  # Glorot, uniform
        torch.nn.init.normal_(part.bias)
    g = sigmoid(linear(gate.of_input, x) + linear(gate.of_sublayer, y))
    same(array(gate(output, input_)), g * y + (1 - g) * x if favour == "sublayer" else g * x + (1 - g) * y)


# ---- encoder layers --------------------------------------------------------------------------------------


def stock_encoder_row(layer, x, pre):
    x = sublayer(x, layer.self_attn_layer_norm, lambda y: attend(layer.self_attn, y, y), pre)
    return sublayer(x, layer.final_layer_norm, lambda y: feed_forward(layer, y), pre)


@both_norms
def test_voitas_last_layer(pre_norm):
    layer = make("gated", **options(pre_norm)).encoder.layers[-1]

    def gated_sum(y, context):
        source, other = attend(layer.self_attn, y, y), attend(attention, y, context)
        gate = sigmoid(linear(layer.self_attn.context_gate.projection, np.concatenate([source, other], 1)))
        return gate * source + (1 - gate) * other

    attention = layer.self_attn.context_attention.attention
    for row, (found, x, context) in enumerate(zip(encode(layer), SOURCES, CONTEXTS, strict=True)):
        if row == 1:
            same(found, stock_encoder_row(layer, x, pre_norm))
            continue
        x = sublayer(x, layer.self_attn_layer_norm, lambda y, c=context: gated_sum(y, c), pre_norm)
        same(found, sublayer(x, layer.final_layer_norm, lambda y: feed_forward(layer, y), pre_norm))


@both_norms
@pytest.mark.parametrize("gate", ["next-sublayer", "zhang", "none"])
def test_encoder_layer_with_context_attention(gate, pre_norm):
    """Equation 4.3."""
    model = make("context_encoder_transformer", context_gate=gate, **options(pre_norm))
    layer = model.encoder.layers[0]
    assert isinstance(layer, ContextEncoderLayer)
    gated = None if gate == "none" else residual_gate(layer.context_gate, gate == "next-sublayer")
    at_context, after = (gated if gate == "zhang" else np.add), (gated if gate == "next-sublayer" else np.add)
    for row, (found, x, context) in enumerate(zip(encode(layer), SOURCES, CONTEXTS, strict=True)):
        if row == 1:
            same(found, stock_encoder_row(layer, x, pre_norm))
            continue
        a = sublayer(x, layer.self_attn_layer_norm, lambda y: attend(layer.self_attn, y, y), pre_norm)
        d = sublayer(
            a, layer.context_attn_layer_norm,
            lambda y, c=context: attend(layer.context_attn.attention, y, c), pre_norm, at_context,
        )  # fmt: skip
        same(found, sublayer(d, layer.final_layer_norm, lambda y: feed_forward(layer, y), pre_norm, after))


def forced_encoder_layers():
    model = make("gated")
    layer = model.encoder.layers[-1]
    force(layer.self_attn.context_gate.projection, 1e4)
    yield model, layer
    model = make("context_encoder_transformer", context_gate="zhang", **PRE_NORM)
    layer = model.encoder.layers[0]
    force(layer.context_gate.of_input, 1e4)
    yield model, layer


def test_an_encoder_layer_gated_to_the_source_is_the_stock_layer():
    for model, layer in forced_encoder_layers():
        expected = encode(stock_layer(layer, TransformerEncoderLayerBase, model), None)
        for found, row in zip(encode(layer), expected, strict=True):
            np.testing.assert_allclose(found, row, atol=1e-6)


def test_without_context_the_layers_are_stock():
    """``context`` None and a context of pads alone."""
    nothing = ContextStates(CONTEXT.states, torch.ones_like(CONTEXT_PADS))
    for case in ("gated", "context encoder", "context encoder zhang", "context encoder no gate"):
        model = make(case)
        layer = model.encoder.layers[-1]
        stock = encode(stock_layer(layer, TransformerEncoderLayerBase, model), None)
        for context in (None, nothing):
            for found, row in zip(encode(layer, context), stock, strict=True):
                np.testing.assert_allclose(found, row, atol=1e-6)
