"""The margin loss in use: random numbers, metrics, a real model, refusals."""

import argparse
import math
from dataclasses import replace
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
from ctxmt_fairseq.data.context_exchange import derangement
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


def test_training_draws_from_torchs_generator_and_validation_from_the_ids():
    def gap(seed, made, model, **more):
        torch.manual_seed(seed)
        return made(model, {**sample(), **more})[2]["context_gap"].item()

    made, model = criterion(), Bag()
    assert gap(1, made, model) == gap(1, made, model)
    assert len({gap(seed, made, model) for seed in range(9)}) > 1
    model.eval()
    assert len({gap(seed, made, model) for seed in range(9)}) == 1
    state = torch.get_rng_state()
    first = gap(0, made, model)
    parts = [replace(sample()["parts"], lines=np.arange(4) + first) for first in range(9)]
    assert len({gap(0, made, model, parts=some) for some in parts}) > 1
    torch.manual_seed(0)
    state = torch.get_rng_state()
    assert made(model, sample())[2]["context_gap"].item() == first
    assert torch.equal(torch.get_rng_state(), state), "the global generator is left alone"


def test_validation_reports_the_gap_whatever_the_weights():
    model = Bag().eval()
    loss, _, log = criterion(**NOTHING, **MARGINS)(model, sample())
    assert torch.equal(loss, LabelSmoothedCrossEntropyCriterion(Task(), False, EPSILON)(model, sample())[0])
    order = derangement(4, torch.Generator().manual_seed(0 + 1 + 2 + 3)).tolist()
    assert log["context_gap"].item() == pytest.approx(from_the_thesis(model, [order])["gap"], abs=1e-9)


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
    model.eval()
    with torch.no_grad():
        first, second = (made(model, batch)[2] for _ in range(2))
    assert first["context_gap"] == second["context_gap"] and first["loss"] == second["loss"]


def test_without_context_there_is_no_gap():
    model = concat_transformer().eval()
    log = criterion()(model, window_batch([3, 4, 7, 12], context_selection="absent"))[2]
    assert abs(log["context_gap"].item()) < 1e-3


# ---- refusals


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin_token_weight": -1.0}, "--margin-token-weight -1.0: expected 0 or more"),
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
