"""The context of MTCue, CUE and TAGGING, and MTCue as a whole, against NumPy written from MTCue, sections 2
and 3.3, row by row."""

import math

import numpy as np
import pytest
import torch
from fairseq.models import build_model

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.vector_context import mean_context
from tests.helpers.metadata_models import (
    DISTANCES,
    PRE_NORM,
    REACH,
    ROWS,
    SOURCES,
    TARGETS,
    TASK,
    VECTORS,
    batch_of,
    make,
    tag_of,
)
from tests.helpers.numpy_layers import (
    array,
    attend,
    attend_qk_norm,
    feed_forward,
    layer_norm,
    linear,
    sublayer,
)
from tests.helpers.random_models import arguments, logits
from tests.helpers.window_datasets import PAD

INPUT_NORM = ("mtcue layer norm", "mtcue as tagging")
QK_NORM = ("mtcue", "mtcue pre-norm", "mtcue no positions", "mtcue layer norm", "cue", "cue pre-norm")
NO_ENCODER = ("mtcue no encoder", "mtcue no encoder pre-norm", "mtcue as tagging")
VECTOR_CASES = (*QK_NORM, *NO_ENCODER, "mtcue no QK-norm", "cue no QK-norm")


def encode(model, batch):
    names = ("src_tokens", "src_lengths", "context")
    with torch.no_grad():
        return model.encoder(**{name: batch["net_input"][name] for name in names})


def encode_rows(encoder, x, attention, pre_norm):
    """Self-attention and feed-forward layers, for (K, D)."""
    for layer in encoder.layers:
        self_attn = layer.self_attn
        x = sublayer(x, layer.self_attn_layer_norm, lambda y, a=self_attn: attention(a, y), pre_norm)
        x = sublayer(x, layer.final_layer_norm, lambda y, f=layer: feed_forward(f, y), pre_norm)
    return layer_norm(encoder.layer_norm, x) if pre_norm else x


def attend_self(module, x):
    return attend(module, x, x)


def contexts(case, model, row):
    """The states of a row's contexts: (k, D)."""
    encoder = model.encoder.context_encoder
    states = linear(encoder.projection, VECTORS[row])
    if case == "mtcue no positions":
        assert encoder.distance_embeddings is None
    else:
        table = array(encoder.distance_embeddings.weight)
        assert len(table) == REACH + 1
        for state, distance in zip(states, DISTANCES[row], strict=True):
            if distance >= 0:  # e'(s, j) = e(s) + POS(j); metadata has none
                state += table[min(distance, REACH)]
    assert (encoder.input_norm is not None) == (case in INPUT_NORM)
    if case in INPUT_NORM:
        states = layer_norm(encoder.input_norm, math.sqrt(128) * states)
    assert len(encoder.layers) == (0 if case in NO_ENCODER else 2)
    if case in NO_ENCODER:
        return states
    attention = attend_qk_norm if case in QK_NORM else attend_self
    return encode_rows(encoder, states, attention, "pre-norm" in case)


def same(found, expected):
    np.testing.assert_allclose(array(found), expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("case", VECTOR_CASES)
def test_context_encoder(case):
    model = make(case)
    inputs = batch_of(model, columns=2, order=[7, 0, 1, 2, 6, 3, 4, 5])["net_input"]
    with torch.no_grad():
        found = model.encoder.context_encoder(inputs["context"]["vectors"], inputs["context"]["distances"])
    assert found.states.shape == (len(ROWS), 8, 128)
    assert torch.equal(found.padding, inputs["context"]["distances"].eq(-2))
    for row in ROWS:
        if DISTANCES[row]:
            same(found.states[row][~found.padding[row]], contexts(case, model, row))


def test_dropout_of_elements_is_its_own():
    """``--context-feature-dropout`` on embedded contexts, and nothing where older checkpoints lack it."""
    for case, expected in (("mtcue", 0.3), ("cue", 0.3), ("tagging", 0.0)):
        for option, found in ((None, expected), (0.25, 0.25)):
            model = make(case, dropout=0.3, context_feature_dropout=option)
            encoder = model.encoder if case == "tagging" else model.encoder.context_encoder
            module = encoder.context_dropout if case == "tagging" else encoder.dropout
            assert module.p == found
    model = make("mtcue", dropout=0.0, context_feature_dropout=0.25).train()
    model.encoder.context_encoder.layers = torch.nn.ModuleList()
    inputs = batch_of(model)["net_input"]
    given = inputs["context"]["vectors"], inputs["context"]["distances"]
    with torch.no_grad():
        trained = [model.encoder.context_encoder(*given).states for _ in range(20)]
        whole = model.eval().encoder.context_encoder(*given).states
    dropped = torch.stack(trained).eq(0)
    assert dropped.float().mean() == pytest.approx(0.25, abs=0.01)
    assert not dropped[:, 0].all(dim=-1).any()  # elements, not vectors
    kept = torch.stack(trained)[~dropped]
    torch.testing.assert_close(kept, (whole / 0.75).expand(dropped.shape)[~dropped])
    with pytest.raises(BadInput, match="--context-feature-dropout 1.0: expected a probability"):
        make("tagging", context_feature_dropout=1.0)


def test_small_initial_values():
    encoder = make("mtcue", context_input="small-init").encoder.context_encoder
    assert 0.0009 < encoder.projection.weight.abs().max() <= 0.001
    assert not encoder.distance_embeddings.weight.any() and encoder.input_norm is not None


def test_options_that_older_checkpoints_lack():
    """What such a checkpoint was trained with is built, whatever the defaults are now."""
    args = arguments("cue_transformer_tiny", context_qk_norm="no")
    for name in ("context_input", "context_feature_dropout"):
        if hasattr(args, name):
            delattr(args, name)
    model = build_model(args, TASK)
    assert model.state_dict().keys() == make("cue no QK-norm").state_dict().keys()
    assert model.encoder.context_encoder.input_norm is None


@pytest.mark.parametrize("case", ["mtcue", "mtcue no QK-norm", "cue"])
def test_no_row_of_pads_alone_comes_to_self_attention(case):
    """Whether softmax survives such a row depends on the device, the precision and torch's version."""
    model, seen = make(case), []
    for layer in model.encoder.context_encoder.layers:
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[1]))
    encode(model, batch_of(model))
    encode(model, batch_of(model, absent=True))
    assert len(seen) == 4 and not any(padding.all(dim=1).any() for padding in seen)
    assert seen[0].any()


@pytest.mark.parametrize("case", ["cue", "cue pre-norm", "cue no QK-norm"])
def test_cue_is_one_more_position_with_the_mean_of_the_contexts(case):
    model = make(case)
    out, source = encode(model, batch_of(model)), encode(model, batch_of(model, absent=True))
    length = max(len(text) for text in SOURCES)
    states, padding = out["encoder_out"][0], out["encoder_padding_mask"][0]
    assert states.shape[0] == padding.shape[1] == length + 1
    torch.testing.assert_close(states[:-1], source["encoder_out"][0][:-1])
    for row in ROWS:
        assert padding[row, -1] == (not DISTANCES[row])
        if DISTANCES[row]:
            same(states[-1, row], contexts(case, model, row).mean(axis=0))


def test_the_mean_is_of_what_is_there():
    states = torch.arange(24.0).view(2, 3, 4)
    padding = torch.tensor([[False, True, False], [True, True, True]])
    mean = mean_context(ContextStates(states, padding))
    assert mean.states[0].tolist() == [[4, 5, 6, 7]] and not mean.states[1].any()
    assert mean.padding.tolist() == [[False], [True]]


@pytest.mark.parametrize("case", ["tagging", "tagging pre-norm"])
def test_tags_are_further_positions(case):
    model = make(case)
    batch = batch_of(model)
    table = array(model.encoder.context_tags.weight)
    assert not table[0].any() and table[1:].std() == pytest.approx(128**-0.5, rel=0.05)
    batch["net_input"]["context"]["tags"][3, 0] = 0  # a tag that the training data does not have
    out = encode(model, batch)
    length = max(len(text) for text in SOURCES)
    for row, distances in enumerate(DISTANCES):
        padding = out["encoder_padding_mask"][0][row, length:]
        tags = [
            tag_of(vector) for vector, distance in zip(VECTORS[row], distances, strict=True) if distance == -1
        ]
        if row == 3:
            tags[0] = 0
        assert (~padding).sum() == len(tags)
        same(out["encoder_out"][0][length:, row][~padding], math.sqrt(128) * table[tags])


# ---- the whole model -------------------------------------------------------------------------------------


def embed(table, tokens):
    """Vaswani et al. 2017, with sines and cosines in halves, and positions from 2 on, as in fairseq."""
    frequencies = np.exp(-np.arange(64) * np.log(10_000) / 63)
    angles = (PAD + 1 + np.arange(len(tokens)))[:, None] * frequencies
    return math.sqrt(128) * array(table.weight)[tokens] + np.concatenate(
        [np.sin(angles), np.cos(angles)], axis=1
    )


@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-norm", "pre-norm"])
def test_parallel_attention_in_the_whole_model(pre_norm):
    """Section 2.3: T' = C' + S'; without context T' = S'."""
    case = "mtcue pre-norm" if pre_norm else "mtcue"
    model = make(case, **(PRE_NORM if pre_norm else {}))
    found = logits(model, batch_of(model))
    for row in ROWS:
        source = encode_rows(
            model.encoder, embed(model.encoder.embed_tokens, SOURCES[row]), attend_self, pre_norm
        )
        context = contexts(case, model, row) if DISTANCES[row] else None
        x = embed(model.decoder.embed_tokens, TARGETS[row].roll(1))

        def attend_both(layer, y, source=source, context=context):
            attended = attend(layer.encoder_attn, y, source)
            return (
                attended if context is None else attended + attend(layer.context_attn.attention, y, context)
            )

        for layer in model.decoder.layers:
            x = sublayer(
                x,
                layer.self_attn_layer_norm,
                lambda y, a=layer.self_attn: attend(a, y, y, causal=True),
                pre_norm,
            )
            x = sublayer(x, layer.encoder_attn_layer_norm, lambda y, at=layer: attend_both(at, y), pre_norm)
            x = sublayer(x, layer.final_layer_norm, lambda y, f=layer: feed_forward(f, y), pre_norm)
        x = layer_norm(model.decoder.layer_norm, x) if pre_norm else x
        expected = x @ array(model.decoder.output_projection.weight).T
        np.testing.assert_allclose(array(found[row])[: len(x)], expected, atol=1e-4, rtol=1e-4)
