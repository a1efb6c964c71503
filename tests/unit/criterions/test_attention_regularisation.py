"""Attention regularised towards highlights: the equation, what it leaves as it is, what it is logged as."""

import math

import numpy as np
import pytest
import torch
from fairseq.logging import metrics

from ctxmt_fairseq.analysis.window_attention import _watched
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.attention_regularisation import (
    PAPERS_LAYERS,
    chosen_attentions,
    distance,
    first_inputs,
    parse_layers,
    regularised,
)
from tests.helpers.highlighted import EXPECTED, LINES, MARKED, collated, highlighted
from tests.helpers.steps import HEIGHT, STOCK, criterion

WEIGHT, CONTEXT = 3.0, 3
LAYERS = parse_layers("encoder:1,cross:2,decoder:last")


def step(loss, model, sample, seed=1):
    torch.manual_seed(seed)
    model.train()
    return loss(model, sample)


def starts(data, line, side):
    """The first token of each sentence in a window: sentence -> place, counted by hand."""
    first = line - line % HEIGHT
    places, at = {}, 0
    for sentence in range(max(first, line - CONTEXT), line + 1):
        places[side, sentence] = at
        at += len(getattr(data, side)[sentence])
    return places, at


def in_numpy(data, weights, name):
    """The mean over words of KL(uniform || attention), the mean share of the support, the number of words.

    Args:
        weights: (H, B, T, S) of the batch of ``LINES``, without pads on the right, in the batch's order.
    """
    own, other = {
        "encoder": ("source", "source"), "cross": ("target", "source"), "decoder": ("target", "target"),
    }[name]  # fmt: skip
    losses, shares = [], []
    for line, word, support in EXPECTED[name]:
        (of_words, _), (of_support, length) = (starts(data, line, side) for side in (own, other))
        attention = weights[line].astype(np.float64).mean(0)  # (T, S)
        pad = attention.shape[1] - length if other == "source" else 0  # sources are padded on the left
        before = attention.shape[0] - starts(data, line, own)[1] if own == "source" else 0
        keys = [of_support[sentence] + place for sentence, places in support.items() for place in places]
        keys = [key + pad + (name == "decoder") for key in keys]  # read one later than predicted
        rows = [attention[before + of_words[own, line] + place][keys] for place in word]
        uniform = 1 / len(keys)
        losses.append(np.mean([sum(uniform * math.log(uniform / p) for p in row) for row in rows]))
        shares.append(np.mean([row.sum() for row in rows]))
    return np.mean(losses), np.mean(shares), len(losses)


def attention_weights(model, sample, attentions):
    """By name and line (H, T, S): the weights that fairseq's own attention computes."""
    found = {}

    def keep(name, weights):
        for row, line in enumerate(sample["id"].tolist()):
            found.setdefault(name, {})[line] = weights[:, row].detach().numpy()

    with torch.no_grad(), _watched(list(attentions.items()), keep):
        model.train()(**sample["net_input"])
    return found


@pytest.mark.parametrize(
    ("system", "loss"),
    [("concat shift", "label_smoothed"), ("concat shift", "margin"), (STOCK, "discounted")],
)
def test_equation(system, loss):
    task, model, data = highlighted(system)
    sample = collated(data)
    before, size, plain = step(criterion(task, loss), model, sample)
    after, size_after, logged = step(regularised(criterion(task, loss), WEIGHT, LAYERS), model, sample)
    assert size == size_after
    weights = attention_weights(model, sample, chosen_attentions(model, LAYERS))
    total = 0.0
    for name in LAYERS:
        value, share, words = in_numpy(data, weights[name], name)
        assert logged[f"attention_{name}_words"] == words
        assert logged[f"attention_{name}_loss"].item() / words == pytest.approx(value, rel=1e-4)
        assert logged[f"attention_{name}_share"].item() / words == pytest.approx(share, rel=1e-4)
        total += value
    assert (after - before).item() == pytest.approx(WEIGHT * float(size) * total, rel=1e-4)
    assert logged["loss"].item() == pytest.approx(after.item())
    assert all(torch.equal(logged[name], plain[name]) for name in plain if torch.is_tensor(plain[name])
               and name != "loss")  # fmt: skip


def test_the_rest_of_a_step_is_bit_for_bit_the_same_with_dropout():
    """The attention itself goes its own way: the weights are computed beside it."""
    task, model, data = highlighted(dropout=0.3, attention_dropout=0.3)
    sample = collated(data)
    _, _, plain = step(criterion(task), model, sample)
    loss, _, logged = step(regularised(criterion(task), WEIGHT, LAYERS), model, sample)
    assert torch.equal(plain["nll_loss"], logged["nll_loss"]) and loss.item() > plain["loss"].item()


def test_weight_0_and_a_batch_without_highlights_are_the_criterion_itself():
    task, model, data = highlighted()
    sample = collated(data)
    made = criterion(task)
    assert type(regularised(made, 0.0, LAYERS)) is type(criterion(task))
    before, _, plain = step(made, model, sample)
    after, _, same = step(regularised(made, 0.0, LAYERS), model, sample)
    assert torch.equal(before, after) and plain.keys() == same.keys()
    data.highlights = {}
    bare = collated(data)
    assert "highlights" not in bare
    after, _, logged = step(regularised(criterion(task), WEIGHT, LAYERS), model, bare)
    assert torch.equal(before, after)
    # The same names as of a batch with highlights, for workers add up each other's.
    assert logged.keys() == step(regularised(criterion(task), WEIGHT, LAYERS), model, sample)[2].keys()
    kinds = {name: torch.is_tensor(value) for name, value in logged.items()}
    loss = regularised(criterion(task), WEIGHT, LAYERS)
    assert {name: torch.is_tensor(value) for name, value in step(loss, model, sample)[2].items()} == kinds


def test_validation_is_as_without():
    task, model, data = highlighted()
    model.eval()
    sample = collated(data)
    expected, found = (
        loss(model, sample) for loss in (criterion(task), regularised(criterion(task), WEIGHT, LAYERS))
    )
    assert torch.equal(expected[0], found[0]) and expected[2].keys() == found[2].keys()


def sums(loss, model, sample):
    logged = step(loss, model, sample)[2]
    return np.array([[float(logged[f"attention_{name}_{kind}"]) for kind in ("loss", "share", "words")]
                     for name in LAYERS])  # fmt: skip


def test_neither_pads_nor_batch_mates_count():
    task, model, data = highlighted()
    loss = regularised(criterion(task), WEIGHT, LAYERS)
    together = sums(loss, model, collated(data))
    alone = sum(sums(loss, model, collated(data, [line])) for line in MARKED)
    np.testing.assert_allclose(together, alone, rtol=1e-5)
    data.padding["pad_to_multiple"] = 64
    padded = collated(data)
    assert padded["target"].size(1) % 64 == 0
    np.testing.assert_allclose(together, sums(loss, model, padded), rtol=1e-5)


def test_gradients_reach_what_the_attention_reads():
    task, model, data = highlighted()
    loss, _, _ = step(regularised(criterion(task), WEIGHT, parse_layers("encoder:2")), model, collated(data))
    base, _, _ = step(criterion(task), model, collated(data))
    (loss - base).backward()
    layers = model.encoder.layers
    moved = [layers[1].self_attn.q_proj.weight, layers[1].self_attn.k_proj.weight, layers[0].fc1.weight]
    assert all(parameter.grad.isfinite().all() and parameter.grad.any() for parameter in moved)
    assert not model.decoder.layers[0].fc1.weight.grad.abs().max() > 1e-3


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_half_precision(precision):
    task, model, data = highlighted()
    loss = regularised(criterion(task), WEIGHT, LAYERS)
    expected = sums(loss, model, collated(data))
    with torch.autocast("cpu", precision):
        mixed = sums(loss, model, collated(data))
    total, _, _ = step(loss, model.to(precision), collated(data))
    np.testing.assert_allclose(mixed, expected, rtol=0.05)
    np.testing.assert_allclose(sums(loss, model, collated(data)), expected, rtol=0.05)
    total.backward()
    assert total.isfinite() and all(
        parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None
    )


def test_metrics():
    def log(**values):
        base = {"loss": 1.0, "nll_loss": 1.0, "ntokens": 2, "nsentences": 1, "sample_size": 2}
        return {**base, **{f"attention_{name.replace('.', '_')}": v for name, v in values.items()}}

    encoder = dict(encoder_loss=3.0, encoder_share=0.5, encoder_words=2)
    nothing = dict(encoder_loss=0.0, encoder_share=0.0, encoder_words=0)
    batches = [
        log(**encoder, cross_loss=1.0, cross_share=0.1, cross_words=1),
        log(**nothing, cross_loss=2.0, cross_share=0.7, cross_words=3),
    ]
    task, _, _ = highlighted()
    kind = type(regularised(criterion(task), WEIGHT, LAYERS))
    assert kind.__name__ == type(criterion(task)).__name__ and kind.logging_outputs_can_be_summed()
    with metrics.aggregate() as logged:
        kind.reduce_metrics(batches)
    values = logged.get_smoothed_values()
    assert values["attention_loss"] == round((3 / 2 + 3 / 4) / math.log(2), 3)
    assert values["attention_share"] == round((0.5 / 2 + 0.8 / 4) / 2, 3)
    with metrics.aggregate() as logged:
        kind.reduce_metrics([log()])
    assert "attention_loss" not in logged.get_smoothed_values()


@pytest.mark.slow
def test_training_moves_attention_to_the_highlights():
    def share(weight):
        task, model, data = highlighted(layers=1, dropout=0.1)
        sample = collated(data)
        loss = regularised(criterion(task), weight, parse_layers("encoder:1,cross:1,decoder:1"))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for number in range(40):
            total, size, _ = step(loss, model, sample, number)
            optimizer.zero_grad()
            (total / size).backward()
            optimizer.step()
        attentions = chosen_attentions(model, loss_layers := parse_layers("encoder:1,cross:1,decoder:1"))
        with torch.no_grad(), first_inputs(attentions) as inputs:
            model.eval()(**sample["net_input"])
            found = [
                distance(attentions[name], inputs[name], sample["highlights"][name]) for name in loss_layers
            ]
        return np.array([each.share.item() / each.words for each in found])

    without, with_highlights = share(0.0), share(1.0)
    assert (with_highlights > 0.8).all() and (without < 0.5).all(), (without, with_highlights)


@pytest.mark.parametrize(
    "text",
    ["", "encoder", "encoder:0", "encoder:x", "encoder:-1", "middle:1", "cross:1,cross:2", "encoder:1,"],
)
def test_wrong_layers(text):
    with pytest.raises(BadInput, match="expected attentions and layers as in encoder:1,cross:1,decoder:last"):
        parse_layers(text)


def test_models_that_have_no_such_attention():
    _, model, _ = highlighted()
    with pytest.raises(BadInput, match="--attention-layers decoder:3: the decoder has 2 layers"):
        chosen_attentions(model, parse_layers("decoder:3"))
    _, model, _ = highlighted("gru", layers=0)
    with pytest.raises(BadInput, match="needs concat_transformer or fairseq's transformer"):
        chosen_attentions(model, parse_layers(PAPERS_LAYERS))


def test_layerdrop_changes_no_layers_number():
    _, model, _ = highlighted(layers=4, encoder_layerdrop=0.9)
    model.train()
    chosen = chosen_attentions(model, parse_layers("encoder:3,cross:1"))
    assert chosen["encoder"] is model.encoder.layers[2].self_attn


def test_every_line_of_the_sample_is_there():
    """What the oracle rests on: the windows are of consecutive lines of two documents."""
    assert set(MARKED) < set(LINES) and all(line % HEIGHT for line in MARKED)
