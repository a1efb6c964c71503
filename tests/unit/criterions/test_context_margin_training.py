"""The margin loss in use: random numbers, metrics, a real model, refusals."""

import argparse
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics
from fairseq.models import build_model

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion
from ctxmt_fairseq.criterions.context_margin import LEVELS, ContextMarginCriterion
from tests.helpers.margin_batches import (
    EPSILON,
    MARGINS,
    NOTHING,
    Bag,
    Task,
    criterion,
    from_the_thesis,
    sample,
)
from tests.helpers.window_datasets import VOCABULARY, dataset, requesting

# ---- randomness


def with_partners(chosen, orders):
    """Some rows, and all four to exchange contexts with."""
    partners = {"batch": sample(), "rows": np.array(chosen), "orders": np.array(orders)}
    return {**sample(chosen), "partners": partners}


def test_training_draws_from_torchs_generator_and_validation_is_given_its_partners():
    def gap(seed, made, model, batch):
        torch.manual_seed(seed)
        return made(model, batch)[2]["context_gap"].item()

    made, model = criterion(), Bag()
    assert gap(1, made, model, sample()) == gap(1, made, model, sample())
    assert len({gap(seed, made, model, sample()) for seed in range(9)}) > 1
    model.eval()
    batch = with_partners([0, 1, 2, 3], [[1, 2, 3, 0]])
    assert len({gap(seed, made, model, batch) for seed in range(9)}) == 1
    state = torch.get_rng_state()
    made(model, batch)
    assert torch.equal(torch.get_rng_state(), state), "the global generator is left alone"


@pytest.mark.parametrize("orders", [[[1, 2, 3, 0]], [[1, 2, 3, 0], [3, 0, 1, 2]]])
def test_validation_reports_the_gap_whatever_the_weights_and_batches(orders):
    model = Bag().eval()
    made, stock = criterion(**NOTHING, **MARGINS), LabelSmoothedCrossEntropyCriterion(Task(), False, EPSILON)
    gap = 0.0
    for chosen in ([3, 1], [0], [2]):
        loss, _, log = made(model, with_partners(chosen, orders))
        assert torch.equal(loss, stock(model, sample(chosen))[0])
        gap += log["context_gap"].item()
    assert gap == pytest.approx(from_the_thesis(model, orders)["gap"], abs=1e-9)


@pytest.mark.parametrize("parts", [[[0, 1, 2, 3]], [[3], [1, 0], [2]]])
def test_the_data_level_of_a_validation_is_that_of_all_batches(parts):
    model, orders = Bag().eval(), [[1, 2, 3, 0]]
    expected = from_the_thesis(model, orders)
    logs = [criterion(**MARGINS)(model, with_partners(chosen, orders))[2] for chosen in parts]
    size = sum(log["sample_size"] for log in logs)
    values = reduced(logs)
    for level in LEVELS:
        nats = values[f"margin_{level}"] * size * math.log(2)
        assert nats == pytest.approx(expected[level], abs=size * 4e-4)
    less = reduced([criterion(margin_data=-9.0)(model, with_partners(chosen, orders))[2] for chosen in parts])
    assert less["margin_data"] == 0


# ---- metrics


def reduced(logs):
    with metrics.aggregate(new_root=True) as meters:
        ContextMarginCriterion.reduce_metrics(logs)
    return meters.get_smoothed_values()


def test_metrics_add_up_over_workers():
    made, model = criterion(**MARGINS, margin_sentence_weight=2.0), Bag()
    logs = [made(model, sample(chosen))[2] for chosen in ([0, 1, 2, 3], [2], [3, 1, 2])]
    values = reduced(logs)
    size, bit = sum(log["sample_size"] for log in logs), math.log(2)
    for level in LEVELS:
        total = sum(log[f"margin_{level}"].item() for log in logs)
        assert values[f"margin_{level}"] == pytest.approx(total / size / bit, abs=1e-3)
    gap = sum(log["context_gap"].item() for log in logs)
    tokens = sum(log["context_gap_ntokens"].item() for log in logs)
    assert tokens == 13 + 9 and values["context_gap"] == pytest.approx(gap / tokens / bit, abs=1e-3)
    base = reduced(
        [
            ContextDiscountedCriterion(Task(), False, EPSILON, context_discount=1)(model, sample(chosen))[2]
            for chosen in ([0, 1, 2, 3], [2], [3, 1, 2])
        ]
    )
    margins = values["margin_data"] + 2 * values["margin_sentence"] + values["margin_token"]
    assert values["loss"] == pytest.approx(base["loss"] + margins, abs=5e-3)
    assert values["current_loss"] == base["current_loss"]


def test_metrics_of_lonely_rows_and_of_no_margins():
    values = reduced([criterion()(Bag(), sample([2]))[2]])
    assert values["margin_token"] == 0 and "context_gap" not in values
    assert "margin_token" not in reduced([criterion(**NOTHING)(Bag(), sample())[2]])


# ---- a real model


def concat_transformer(**options):
    torch.manual_seed(1)
    args = argparse.Namespace(
        arch="concat_transformer_tiny",
        encoder_embed_dim=32,
        encoder_ffn_embed_dim=32,
        encoder_layers=1,
        decoder_layers=1,
        segment_positions="learned",
        segment_types="context",
        max_source_positions=128,
        max_target_positions=128,
        dropout=0.1,
        **options,
    )
    return build_model(args, Task())


def window_batch(lines, **window):
    window = {"source_context": 2, "source_context_after": 1, "target_context": 2, **window}
    data = dataset(window=window, request=requesting("window"))
    return data.collater([data[line] for line in lines])


def test_a_transformer_learns_from_it():
    model, made = concat_transformer(), criterion(label_smoothing=0.0)
    batch, history = window_batch([3, 4, 7, 12, 30, 41]), []
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for update in range(30):
        torch.manual_seed(update)
        loss, sample_size, log = made(model, batch)
        optimizer.zero_grad()
        (loss / sample_size).backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
        optimizer.step()
        history.append((log["context_gap"] / log["context_gap_ntokens"]).item())
    assert sum(history[-5:]) / 5 > 0.2 > abs(sum(history[:5]) / 5)


def test_without_context_there_is_no_gap():
    model = concat_transformer().eval()
    log = criterion()(model, window_batch([3, 4, 7, 12], context_selection="absent"))[2]
    assert abs(log["context_gap"].item()) < 1e-3


# ---- refusals


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin_token_weight": -1.0}, "--margin-token-weight -1.0: expected 0 or more"),
        ({"margin_token": float("nan")}, "--margin-token nan: expected a number"),
        ({"margin_contexts": 0}, "--margin-contexts 0: expected 1 or more"),
        ({"ignore_prefix_size": 1}, "--ignore-prefix-size"),
        ({"context_discount": 2.0}, "--context-discount"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        criterion(**options)


def test_a_task_without_context_is_refused():
    with pytest.raises(BadInput, match="needs one of the tasks with context"):
        criterion(SimpleNamespace(target_dictionary=VOCABULARY))
