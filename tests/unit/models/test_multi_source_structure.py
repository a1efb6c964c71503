"""Which parts the multi-source models consist of, and which of them are shared."""

import argparse

import pytest
from fairseq.models import ARCH_CONFIG_REGISTRY
from fairseq.models.transformer import TransformerDecoder
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase

from ctxmt_fairseq.models.blocks.context_layers import ContextEncoderLayer, GatedContextEncoderLayer
from ctxmt_fairseq.models.blocks.fusions import Parallel, Separate, Serial
from ctxmt_fairseq.models.decoder import Decoder
from tests.helpers.multi_source_models import dataset, make
from tests.helpers.window_datasets import VOCABULARY


def layers(encoder):
    return [encoder.layers[number] for number in range(len(encoder.layers))]


@pytest.mark.parametrize(
    "options",
    [{}, {"encoder_layerdrop": 0.5}, {"encoder_learned_pos": True}, {"encoder_normalize_before": True}],
    ids=str,
)
def test_voitas_encoders_share_all_but_the_last_layer(options):
    model = make("gated", encoder_layers=5, **options)
    source, context = model.encoder, model.encoder.context_encoder
    assert len(layers(source)) == len(layers(context)) == 5
    assert all(a is b for a, b in zip(layers(source)[:-1], layers(context)[:-1], strict=True))
    assert source.embed_tokens is context.embed_tokens and source.embed_positions is context.embed_positions
    assert type(source.layers[-1]) is GatedContextEncoderLayer
    assert isinstance(context.layers[-1], TransformerEncoderLayerBase)
    assert not isinstance(context.layers[-1], GatedContextEncoderLayer)
    own = {id(parameter) for parameter in source.layers[-1].parameters()}
    assert not own & {id(parameter) for parameter in context.parameters()}
    new = sum(p.numel() for name, p in model.named_parameters() if "context_" in name)
    last = sum(p.numel() for p in context.layers[-1].parameters())
    norm = 2 * 128 if "encoder_normalize_before" in options else 0  # each encoder's last layer norm
    assert new == last + norm + 4 * (128 * 128 + 128) + (256 * 128 + 128)


def test_voitas_decoder_is_stock():
    model = make("gated")
    assert type(model.decoder) is Decoder and model.decoder.forward.__func__ is TransformerDecoder.forward
    assert all(type(layer).forward is TransformerDecoderLayerBase.forward for layer in model.decoder.layers)


@pytest.mark.parametrize("kind", ["separate", "shared", "shared-token"])
def test_dual_encoders(kind):
    model = make("dual_encoder_transformer", context_encoder=kind, encoder_layers=3)
    context = model.encoder.context_encoder
    if kind == "separate":
        assert context.embed_tokens is model.encoder.embed_tokens
        assert len(layers(context)) == 3
        own = {id(parameter) for parameter in model.encoder.layers.parameters()}
        assert not own & {id(parameter) for parameter in context.layers.parameters()}
    else:
        assert context is None
        assert not [name for name, _ in model.encoder.named_parameters() if "context" in name]
    data = dataset(model)
    tokens = data.collater([data[4]])["net_input"]["context"]["tokens"]
    first = tokens[:, 0]
    assert first.eq(VOCABULARY.bos()).all() if kind == "shared-token" else first.ne(VOCABULARY.bos()).all()


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_depth_of_the_context_encoder(depth):
    model = make("context_encoder_transformer", context_layers=depth, encoder_layers=3)
    context = model.encoder.context_encoder
    assert len(layers(context)) == depth and len(layers(model.encoder)) == 3
    assert model.cfg.encoder.layers == 3
    assert context.embed_tokens is model.encoder.embed_tokens
    assert not any(isinstance(layer, ContextEncoderLayer) for layer in context.layers)
    assert all(type(layer) is ContextEncoderLayer for layer in model.encoder.layers)
    assert all(type(layer) is Serial and layer.context_first for layer in model.decoder.layers)


def test_orders_of_the_decoders_attentions():
    assert not make("context encoder source first").decoder.layers[0].context_first
    for case in ("dual serial", "caching tokens"):  # the thesis, equation 4.1
        assert not make(case).decoder.layers[0].context_first


@pytest.mark.parametrize(
    "kind,size,encoder,sentences,current,fusion,gate",
    [
        ("none", 2, "no", -1, "no", "serial", "none"),
        ("sentence", 2, "no", -1, "yes", "separate", "branch"),
        ("mean", 2, "no", -1, "yes", "serial", "none"),
        ("max", 2, "no", -1, "yes", "serial", "none"),
        ("linear", 2, "no", -1, "yes", "serial", "none"),
        ("group", 9, "yes", 2, "yes", "serial", "none"),
        ("select", 10, "yes", 1, "yes", "serial", "none"),
    ],
)
def test_defaults_of_sequence_shortening(kind, size, encoder, sentences, current, fusion, gate):
    """Section 5.2."""
    args = argparse.Namespace(shortening=kind)
    ARCH_CONFIG_REGISTRY["caching_transformer_base"](args)
    found = (
        args.shortening_size, args.context_gradient_encoder, args.context_gradient_sentences,
        args.current_in_context, args.context_fusion, args.context_gate, args.shortening_activation,
    )  # fmt: skip
    assert found == (size, encoder, sentences, current, fusion, gate, "sparsemax")


def test_the_gate_of_sentence_vectors_needs_an_attention_of_its_own():
    for fusion, gate in (("serial", "branch"), ("parallel", "branch"), ("concat", "none"), ("flat", "none")):
        args = argparse.Namespace(shortening="sentence", context_fusion=fusion)
        ARCH_CONFIG_REGISTRY["caching_transformer_tiny"](args)
        assert args.context_gate == gate


def test_models_of_sentence_vectors_from_before_separate_branches():
    """Their checkpoints name the former default: one layer norm for the sum of two attentions."""
    before = make(
        "caching_transformer", shortening="sentence", context_fusion="parallel", context_gate="branch"
    )
    now = make("caching_transformer", shortening="sentence")
    assert type(before.decoder.layers[0]) is Parallel and type(now.decoder.layers[0]) is Separate
    norms = {
        f"decoder.layers.{n}.context_attn_layer_norm.{kind}" for n in (0, 1) for kind in ("weight", "bias")
    }
    assert set(now.state_dict()) - set(before.state_dict()) == norms
    assert set(before.state_dict()) < set(now.state_dict())


def test_the_gates_old_name_means_the_same():
    args = argparse.Namespace(arch="context_encoder_transformer_tiny", context_gate="thesis")
    ARCH_CONFIG_REGISTRY[args.arch](args)  # as when an old checkpoint's model is built
    assert args.context_gate == "next-sublayer"
    new = argparse.Namespace(arch="context_encoder_transformer_tiny")
    ARCH_CONFIG_REGISTRY[new.arch](new)
    assert new.context_gate == "next-sublayer"
