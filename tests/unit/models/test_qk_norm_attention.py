"""Query-key normalisation against NumPy written from Henry et al. 2020."""

import math

import numpy as np
import pytest
import torch
from fairseq.models.transformer import TransformerConfig

from ctxmt_fairseq.models.blocks.qk_norm_attention import QKNormAttention, QKNormEncoderLayer
from tests.helpers.layer_batches import CONTEXT, CONTEXT_PADS, D, random
from tests.helpers.numpy_layers import array, attend_qk_norm

HEADS = 4
PADS = CONTEXT_PADS & ~CONTEXT_PADS.all(dim=1, keepdim=True)  # row 1 is whole
STATES = CONTEXT.states.transpose(0, 1)


def make(length=6.0, dropout=0.0):
    torch.manual_seed(0)
    module = QKNormAttention(D, HEADS, length, dropout).eval()
    for projection in (module.q_proj, module.k_proj, module.v_proj, module.out_proj):
        torch.nn.init.normal_(projection.bias)
    return module


def output(module, states=STATES, pads=PADS):
    with torch.no_grad():
        attended, weights = module(states, states, states, pads, need_weights=False, attn_mask=None)
    assert weights is None
    return attended.transpose(0, 1)


@pytest.mark.parametrize("scale", [None, 0.3, 20.0])
def test_equation(scale):
    module = make()
    if scale:
        torch.nn.init.constant_(module.qk_scale, scale)
    for found, states, pads in zip(output(module), CONTEXT.states, PADS, strict=True):
        expected = attend_qk_norm(module, array(states)[~pads.numpy()])
        np.testing.assert_allclose(array(found)[~pads.numpy()], expected, atol=2e-5, rtol=1e-4)
    whole = output(module, pads=None)
    np.testing.assert_allclose(array(whole[0]), attend_qk_norm(module, array(CONTEXT.states[0])), atol=2e-5)


@pytest.mark.parametrize("length,expected", [(2, 1.0), (6, math.log2(30)), (11.5, math.log2(120.75))])
def test_initial_scale_is_learned_and_one_for_each_module(length, expected):
    """Equation 4's g starts at log2(L^2 - L)."""
    module = make(length)
    assert module.qk_scale.shape == (1,) and module.qk_scale.item() == pytest.approx(expected)
    states = STATES.clone().requires_grad_()
    module(states, states, states)[0].square().sum().backward()
    assert module.qk_scale.grad.abs() > 0 and states.grad.isfinite().all()


def test_the_length_of_queries_and_keys_plays_no_part():
    module = make()
    expected = output(module)
    with torch.no_grad():
        for projection in (module.q_proj, module.k_proj):
            projection.weight.mul_(100)
            projection.bias.mul_(100)
    torch.testing.assert_close(output(module), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("precision", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", [0, 1e-6, 1, 3e3])
def test_vectors_of_any_length_are_safe(precision, size):
    """Also of none: 0 / 0; and long ones, whose squares float16 cannot hold."""
    module = make()
    for projection in (module.q_proj, module.k_proj):
        torch.nn.init.zeros_(projection.bias)
    module = module.to(precision)
    states = (size * random(5, 3, D)).to(precision).requires_grad_()
    attended, _ = module(states, states, states)
    attended.float().mean().backward()
    assert attended.dtype == precision and attended.isfinite().all()
    assert states.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in module.parameters())


def test_mixed_precision():
    module = make()
    with torch.autocast("cpu", torch.bfloat16):
        found = output(module)
    torch.testing.assert_close(found.float(), output(module), atol=0.05, rtol=0.05)


def test_dropout_in_training_only():
    module = make(dropout=0.5)
    assert torch.equal(output(module), output(module))
    module.train()
    assert not torch.equal(output(module), output(module))


def test_encoder_layer_has_it_in_place_of_fairseqs_attention():
    cfg = TransformerConfig()
    cfg.encoder.embed_dim, cfg.encoder.attention_heads, cfg.contexts_per_sample = D, HEADS, 6.0
    layer = QKNormEncoderLayer(cfg)
    assert type(layer.self_attn) is QKNormAttention and layer.self_attn.num_heads == HEADS
    assert layer.self_attn.qk_scale.item() == pytest.approx(math.log2(30))
    assert layer(STATES, PADS).shape == STATES.shape
