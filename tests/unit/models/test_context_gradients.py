"""Sequence shortening, section 4.3: the states of the context, and which of them let the gradient through."""

import numpy as np
import pytest
import torch
from fairseq.models.transformer import TransformerEncoder

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from tests.helpers.multi_source_models import dataset, make
from tests.helpers.numpy_layers import array
from tests.helpers.window_datasets import PAD

WINDOW = dict(source_context=3, source_context_after=2, target_context_on_source=2)
LINES = [4, 5, 6, 7]  # of one document, with a whole context but for the last's following ones
COLUMNS = [
    (2, 2),
    (1, 2),
    (3, 0),
    (2, 0),
    (1, 0),
    (1, 1),
    (2, 1),
]  # distance and role of each context sentence


def caching(shortening, **options):
    model = make("caching_transformer", shortening=shortening, dropout=0.0, **options)
    assert not model.training
    return model


def batch_of(model, **options):
    data = dataset(model, **WINDOW, **options)
    return data.collater([data[line] for line in LINES])


def encode(model, batch):
    inputs = batch["net_input"]
    names = ("src_tokens", "src_lengths", "context")
    return model.encoder(**{name: inputs[name] for name in names if name in inputs})


def parts(model):
    """The parameters of the shared encoder, of the shortening, and of the tables of distances and roles."""
    named = dict(model.encoder.named_parameters())
    shortening = {name for name in named if name.startswith("context_shortening")}
    tables = {name for name in named if name.startswith("context_embeddings")}
    return (
        [named[name] for name in named.keys() - shortening - tables],
        [named[name] for name in shortening],
        [named["context_embeddings.segments.weight"]],
    )


def reached(loss, parameters):
    gradients = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
    return any(gradient is not None and bool(gradient.abs().sum() > 0) for gradient in gradients)


def column_of_state(model, batch, monkeypatch):
    """The context sentence of each state (B, K), -1 for pads: with pads left in, all have equally many."""
    with monkeypatch.context() as patch:
        patch.setattr(ContextStates, "compact", lambda context: context)
        padding = encode(model, batch)["context_padding"][0].unflatten(1, (len(COLUMNS), -1))
    rows = [(~row).nonzero()[:, 0] for row in padding]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)


@pytest.mark.parametrize("batch_runs", [0, 4], ids=["rows", "each sentence once"])
@pytest.mark.parametrize("nearest", [-1, 0, 1, 2, 9])
@pytest.mark.parametrize("into_encoder", ["yes", "no"])
@pytest.mark.parametrize("shortening", ["mean", "select", "none"])
def test_where_the_gradient_of_the_context_is_blocked(
    shortening, into_encoder, nearest, batch_runs, monkeypatch
):
    """One context sentence's states at a time; the decoder and the current sentence's states play no part."""
    model = caching(
        shortening, context_gradient_encoder=into_encoder, context_gradient_sentences=nearest,
        current_in_context="no",
    )  # fmt: skip
    batch = batch_of(model, batch_runs=batch_runs)
    columns = column_of_state(model, batch, monkeypatch)
    out = encode(model, batch)
    states = out["context_states"][0]
    weights = torch.randn(states.shape, generator=torch.Generator().manual_seed(3))
    encoder, shortener, table = parts(model)
    for column, (distance, _) in enumerate(COLUMNS):
        loss = (states * weights)[columns == column].sum()
        open_ = nearest < 0 or distance <= nearest
        assert not shortener or reached(loss, shortener) == open_, column
        assert reached(loss, encoder) == (open_ and into_encoder == "yes"), column
        assert reached(loss, table), column
    # A sentence that is also a current one keeps its own gradient.
    own = out["encoder_out"][0]
    assert reached(own[:, 0].square().sum(), encoder) and not reached(own.square().sum(), shortener + table)


@pytest.mark.parametrize("into_encoder", ["yes", "no"])
def test_the_current_sentences_own_states_are_never_blocked(into_encoder):
    model = caching(
        "group", context_gradient_encoder=into_encoder, context_gradient_sentences=0, shortening_size=3
    )
    states = encode(model, batch_of(model))["context_states"][0]
    encoder, shortener, table = parts(model)
    weights = torch.randn(states.shape, generator=torch.Generator().manual_seed(3))
    others, own = (states * weights)[:, :-3].sum(), (states * weights)[:, -3:].sum()
    assert all(reached(own, part) for part in (encoder, shortener, table))
    assert not reached(others, encoder) and not reached(others, shortener) and reached(others, table)


def loss_of(model, batch, encoder_out):
    output = model.decoder(batch["net_input"]["prev_output_tokens"], encoder_out=encoder_out)[0]
    return torch.nn.functional.cross_entropy(
        output.flatten(0, 1), batch["target"].flatten(), ignore_index=PAD
    )


@pytest.mark.parametrize("batch_runs", [0, 4], ids=["rows", "each sentence once"])
def test_a_blocked_context_is_a_constant_to_the_encoder(batch_runs):
    """The whole model's gradient is that of the same loss with the context's states given as numbers."""
    model = caching("none", current_in_context="no")
    batch = batch_of(model, batch_runs=batch_runs)
    encoder = parts(model)[0]
    found = torch.autograd.grad(loss_of(model, batch, encode(model, batch)), encoder)
    with torch.no_grad():
        constants = ContextStates.of(encode(model, batch)).entries()
    expected = torch.autograd.grad(loss_of(model, batch, {**encode(model, batch), **constants}), encoder)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-7, rtol=1e-5)
    free = caching("none", current_in_context="no", context_gradient_encoder="yes")
    others = torch.autograd.grad(loss_of(free, batch, encode(free, batch)), parts(free)[0])
    assert any((a - b).abs().max() > 1e-4 for a, b in zip(found, others, strict=True))


@pytest.mark.parametrize("shortening", ["none", "sentence", "mean", "group"])
@pytest.mark.parametrize("fusion", ["serial", "concat"])
@pytest.mark.parametrize("batch_runs", [0, 4], ids=["rows", "each sentence once"])
def test_the_states_of_the_context(shortening, fusion, batch_runs):
    """Every sentence encoded alone, shortened, and marked; the current sentence comes last, at distance 0."""
    model = caching(shortening, current_in_context="yes", context_fusion=fusion, context_gate="none")
    data, batch = dataset(model, **WINDOW), batch_of(model, batch_runs=batch_runs)
    tables = model.encoder.context_embeddings
    segments, roles = array(tables.segments.weight), array(tables.roles.weight)
    assert not roles[0].any()  # the paper knows previous sentences only
    with torch.no_grad():
        out = encode(model, batch)
    for row, line in enumerate(batch["id"].tolist()):
        example, expected = data[line], []
        texts = zip([*example["context"], example["source"]], [*COLUMNS, (0, 0)], strict=True)
        for text, (distance, role) in texts:
            if text is None:
                continue
            with torch.no_grad():
                states = TransformerEncoder.forward(model.encoder, text[None])["encoder_out"][0]
                pads = torch.zeros(1, len(text)).bool()
                short = array(model.encoder.context_shortening(states.transpose(0, 1), pads)[0][0])
            short = short + segments[distance] + roles[role]
            if tables.positions is not None:
                short = short + array(tables.positions.weight)[: len(short)]
            expected.append(short)
        assert (tables.positions is None) == (shortening in ("none", "sentence"))
        if fusion == "concat":
            expected.insert(0, array(states[:, 0]))  # the current sentence's, last of the loop
            found, padding = out["encoder_out"][0][:, row], out["encoder_padding_mask"][0][row]
        else:
            found, padding = out["context_states"][0][row], out["context_padding"][0][row]
        np.testing.assert_allclose(array(found)[~padding.numpy()], np.concatenate(expected), atol=2e-5)
