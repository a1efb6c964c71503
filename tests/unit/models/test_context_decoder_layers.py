"""Decoder layers with context, against NumPy written from the papers' equations, row by row."""

import numpy as np
import pytest
import torch
from fairseq.models.transformer import TransformerEncoder
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase

from ctxmt_fairseq.models.blocks.fusions import ContextDecoderLayer
from tests.helpers.layer_batches import (
    CONTEXTS,
    SOURCES,
    TARGET,
    D,
    T,
    both_norms,
    decode,
    force,
    options,
    random,
    residual_gate,
    same,
    stock_layer,
)
from tests.helpers.multi_source_models import dataset, make
from tests.helpers.numpy_layers import array, attend, feed_forward, layer_norm, linear, sigmoid, sublayer

SERIAL = [
    (order, gate)
    for order in ("source-first", "context-first")
    for gate in ("none", "branch", "next-sublayer", "zhang")
]


def decoder_layer(fusion, gate, order, pre_norm):
    model = make(
        "dual_encoder_transformer", context_fusion=fusion, context_gate=gate, context_order=order,
        **options(pre_norm),
    )  # fmt: skip
    layer = model.decoder.layers[0]
    assert isinstance(layer, ContextDecoderLayer)
    return layer


def context_branch(layer, gate, y, context):
    attended = attend(layer.context_attn.attention, y, context)
    if gate != "branch":
        return attended
    return sigmoid(linear(layer.context_gate.projection, attended)) * attended


def rows_to_decode(layer, pre_norm):
    """(row, the layer's output, target after self-attention, source, context)."""
    parts = zip(decode(layer), array(TARGET.transpose(0, 1)), SOURCES, CONTEXTS, strict=True)
    for row, (found, x, source, context) in enumerate(parts):
        x = sublayer(
            x, layer.self_attn_layer_norm, lambda y: attend(layer.self_attn, y, y, causal=True), pre_norm
        )
        yield row, found, x, source, context


@both_norms
@pytest.mark.parametrize("order,gate", SERIAL)
def test_serial_decoder_layer(order, gate, pre_norm):
    """Equation 4.1, in both orders; the thesis gates the sub-layer after context attention."""
    layer = decoder_layer("serial", gate, order, pre_norm)
    of_residual = gate in ("next-sublayer", "zhang")
    gated = residual_gate(layer.context_gate, gate == "next-sublayer") if of_residual else None
    for row, found, x, source, context in rows_to_decode(layer, pre_norm):
        steps = {
            "source": (layer.encoder_attn_layer_norm, lambda y, s=source: attend(layer.encoder_attn, y, s)),
            "context": (
                layer.context_attn_layer_norm, lambda y, c=context: context_branch(layer, gate, y, c)
            ),
            "ffn": (layer.final_layer_norm, lambda y: feed_forward(layer, y)),
        }  # fmt: skip
        names = ["source", "context", "ffn"] if order == "source-first" else ["context", "source", "ffn"]
        join = dict.fromkeys(names, np.add)
        if gate == "zhang":
            join["context"] = gated
        elif gate == "next-sublayer":
            join[names[names.index("context") + 1]] = gated
        if row == 1:
            names.remove("context")
            join = dict.fromkeys(names, np.add)
        for name in names:
            x = sublayer(x, *steps[name], pre_norm, join[name])
        same(found, x)


@both_norms
@pytest.mark.parametrize("fusion", ["parallel", "parallel-mean", "hierarchical"])
@pytest.mark.parametrize("gate", ["none", "branch"])
def test_parallel_and_hierarchical_decoder_layer(fusion, gate, pre_norm):
    """Libovicky et al. 2018: the sum of the two attentions, or an attention over the two of each token."""
    layer = decoder_layer(fusion, gate, "", pre_norm)

    def attend_both(y, source, context):
        results = [attend(layer.encoder_attn, y, source), context_branch(layer, gate, y, context)]
        if fusion in ("parallel", "parallel-mean"):
            return (results[0] + results[1]) / (2 if fusion == "parallel-mean" else 1)
        pairs = zip(y, *results, strict=True)
        return np.concatenate(
            [attend(layer.context_fusion_attn, q[None], np.stack([a, b])) for q, a, b in pairs]
        )

    for row, found, x, source, context in rows_to_decode(layer, pre_norm):
        function = (
            (lambda y, s=source: attend(layer.encoder_attn, y, s))
            if row == 1
            else (lambda y, s=source, c=context: attend_both(y, s, c))
        )
        x = sublayer(x, layer.encoder_attn_layer_norm, function, pre_norm)
        same(found, sublayer(x, layer.final_layer_norm, lambda y: feed_forward(layer, y), pre_norm))


@both_norms
@pytest.mark.parametrize("gate", ["none", "branch"])
def test_separate_decoder_layer(gate, pre_norm):
    """Sequence shortening, 4.3 and 5.2: two branches, each with its residual connection and layer norm; the
    gate, one number for each token, is on the context's. Before the attentions the layer norms leave a in the
    sum once."""
    layer = decoder_layer("separate", gate, "", pre_norm)
    assert gate == "none" or layer.context_gate.projection.weight.shape == (1, 128)
    for row, found, a, source, context in rows_to_decode(layer, pre_norm):
        x = sublayer(
            a, layer.encoder_attn_layer_norm, lambda y, s=source: attend(layer.encoder_attn, y, s), pre_norm
        )
        if row != 1:
            normed = layer_norm(layer.context_attn_layer_norm, a) if pre_norm else a
            c = attend(layer.context_attn.attention, normed, context)
            if not pre_norm:
                c = layer_norm(layer.context_attn_layer_norm, a + c)
            if gate == "branch":
                c = sigmoid(linear(layer.context_gate.projection, c)) * c
            x = x + c
        same(found, sublayer(x, layer.final_layer_norm, lambda y: feed_forward(layer, y), pre_norm))


@pytest.mark.parametrize(
    "fusion,gate,pre_norm",
    # After a post-norm layer's context attention a layer norm remains, whatever the gate says.
    [("parallel", "branch", False), ("parallel", "branch", True), ("separate", "branch", False),
     ("separate", "branch", True), ("serial", "branch", True), ("serial", "zhang", True)],
)  # fmt: skip
def test_a_decoder_layer_gated_to_the_source_is_the_stock_layer(fusion, gate, pre_norm):
    more = {"context_fusion": fusion, "context_gate": gate, **options(pre_norm)}
    model = make("dual_encoder_transformer", **more)
    layer = model.decoder.layers[0]
    if gate == "branch":
        force(layer.context_gate.projection, -1e4)
    else:
        force(layer.context_gate.of_input, 1e4)
    stock = stock_layer(layer, TransformerDecoderLayerBase, model)
    np.testing.assert_allclose(decode(layer), decode(stock, None), atol=1e-6)


def test_flat_fusion_is_one_attention_to_the_states_of_all_sentences():
    """Every sentence is encoded alone; the stock decoder reads their states in one sequence."""
    model = make("dual concat")
    layer = model.decoder.layers[0]
    assert not isinstance(layer, ContextDecoderLayer)
    data = dataset(model)
    batch = data.collater([data[line] for line in (4, 9, 23)])  # line 9 is alone in its document
    with torch.no_grad():
        out = model.encoder.forward_torchscript(dict(batch["net_input"]))
    states, pads = out["encoder_out"][0].transpose(0, 1), out["encoder_padding_mask"][0]
    for row, line in enumerate(batch["id"].tolist()):
        example = data[line]
        texts = [(model.encoder, example["source"])]
        texts += [(model.encoder.context_encoder, text) for text in example["context"] if text is not None]
        with torch.no_grad():
            alone = [
                TransformerEncoder.forward(encoder, text[None])["encoder_out"][0] for encoder, text in texts
            ]
        expected = np.concatenate([array(part[:, 0]) for part in alone])
        same(array(states[row])[~pads[row].numpy()], expected)
        target = random(1, T, D)[0]
        with torch.no_grad():
            found = layer(
                target[:, None], states[row : row + 1].transpose(0, 1), pads[row : row + 1],
                self_attn_mask=torch.full((T, T), -torch.inf).triu(1),
            )[0]  # fmt: skip
        x = array(target)
        for norm, function in (
            (layer.self_attn_layer_norm, lambda y: attend(layer.self_attn, y, y, causal=True)),
            (layer.encoder_attn_layer_norm, lambda y, s=expected: attend(layer.encoder_attn, y, s)),
            (layer.final_layer_norm, lambda y: feed_forward(layer, y)),
        ):
            x = sublayer(x, norm, function, pre_norm=False)
        same(array(found[:, 0]), x)
