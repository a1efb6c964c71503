"""The margin loss against a NumPy computation written from the thesis, and its base criterion."""

import math
from argparse import Namespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion
from ctxmt_fairseq.criterions.context_margin import LEVELS
from ctxmt_fairseq.data.context_exchange import derangement
from tests.helpers.margin_batches import (
    EPSILON,
    MARGINS,
    NOTHING,
    Bag,
    Task,
    criterion,
    from_the_thesis,
    only,
    sample,
)
from tests.helpers.window_datasets import EOS, SEP

# ---- the equations


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_level_equals_the_thesis(contexts, seed):
    model, stock = Bag(seed), LabelSmoothedCrossEntropyCriterion(Task(), False, EPSILON)
    base, sample_size, base_log = stock(model, sample())
    torch.manual_seed(5)
    expected = from_the_thesis(model, [derangement(4).tolist() for _ in range(contexts)])
    for level in LEVELS:
        torch.manual_seed(5)
        loss, size, log = only(level, margin_contexts=contexts)(model, sample())
        assert loss.item() - base.item() == pytest.approx(expected[level], abs=1e-9)
        assert log["loss"] == loss and log["nll_loss"] == base_log["nll_loss"]
        assert size == log["sample_size"] == sample_size
        for name in LEVELS:
            assert log[f"margin_{name}"].item() == pytest.approx(expected[name], abs=1e-9)
        assert log["context_gap"].item() == pytest.approx(expected["gap"], abs=1e-9)
        assert log["context_gap_ntokens"] == expected["tokens"] == 3 + 1 + 2 + 1 + 4 + 1 + 0 + 1
        assert not any(torch.is_tensor(value) and value.requires_grad for value in log.values())
    weights = {"margin_data_weight": 0.5, "margin_sentence_weight": 2.0, "margin_token_weight": 3.0}
    torch.manual_seed(5)
    loss = criterion(**MARGINS, **weights, margin_contexts=contexts)(model, sample())[0]
    together = sum(weights[f"margin_{level}_weight"] * expected[level] for level in LEVELS)
    assert loss.item() - base.item() == pytest.approx(together, abs=1e-9)


def test_the_numbers_above_tell_the_levels_apart():
    """The hinges are open, and some tokens' and sentences' closed, so that no level is another's sum."""
    expected = from_the_thesis(Bag(0), [[1, 2, 3, 0]])
    assert all(expected[level] > 0 for level in LEVELS)
    assert expected["data"] < expected["sentence"] < expected["token"]


def test_batches_of_neighbours_are_warned_of(caplog):
    task = Task()
    task.cfg = Namespace(batch_runs=0)
    criterion(task)
    assert not caplog.records
    task.cfg.batch_runs = 8
    criterion(task)
    assert "--batch-runs: a random context" in caplog.text


def test_windows_that_cannot_exchange_contexts_are_refused_at_once():
    task = Task()
    task.options = {"context_end": "eos"}
    with pytest.raises(BadInput, match="--context-end eos"):
        criterion(task)


def test_defaults_are_the_papers():
    made = criterion()
    assert made.margins == {"data": math.log(1.1), "sentence": 0, "token": 0}
    assert made.weights == {"data": 1, "sentence": 0, "token": 1}
    assert (made.contexts, made.detach, made.context_discount) == (1, False, 1)


# ---- the base criterion


@pytest.mark.parametrize("options", [{}, {"sentence_avg": True}, {"label_smoothing": 0.0}])
def test_without_weights_training_is_the_base_criterion_exactly(options):
    class Untouched(Task):
        def exchange_context(self, sample, order):
            raise AssertionError("nothing is computed")

    given = {"sentence_avg": False, "label_smoothing": EPSILON, **options}
    results = []
    for made in (
        criterion(Untouched(), **NOTHING, **options),
        LabelSmoothedCrossEntropyCriterion(Task(), **given),
    ):
        model = Bag()
        loss, sample_size, log = made(model, sample())
        loss.backward()
        assert "context_gap" not in log
        results.append((loss, model.table.grad, log["nll_loss"], torch.tensor(sample_size)))
    assert all(torch.equal(*pair) for pair in zip(*results, strict=True))


@pytest.mark.parametrize("normalisation", ["tokens", "weights"])
def test_the_base_may_be_context_discounted(normalisation):
    options = dict(context_discount=0.25, discount_normalisation=normalisation)
    base, size, _ = ContextDiscountedCriterion(Task(), False, EPSILON, **options)(Bag(), sample())
    loss, margin_size, log = criterion(**options)(Bag(), sample())
    torch.testing.assert_close(loss, base + log["margin_data"] + log["margin_token"])
    assert log["margin_token"] > 0 and size == margin_size


def test_unreduced_losses_are_the_base_criterions():
    loss = criterion()(Bag(), sample(), reduce=False)[0]
    stock = ContextDiscountedCriterion(Task(), False, EPSILON, context_discount=1)
    assert torch.equal(loss, stock(Bag(), sample(), reduce=False)[0])


def test_a_batch_of_one_adds_nothing_but_logs_every_name():
    several = criterion()(Bag(), sample())[2]
    model, stock = Bag(), Bag()
    loss, _, log = criterion()(model, sample([2]))
    expected = LabelSmoothedCrossEntropyCriterion(Task(), False, EPSILON)(stock, sample([2]))[0]
    assert torch.equal(loss, expected)
    (loss.backward(), expected.backward())
    assert torch.equal(model.table.grad, stock.table.grad)
    assert log.keys() == several.keys()
    for name in ("margin_data", "margin_sentence", "margin_token", "context_gap", "context_gap_ntokens"):
        assert log[name] == 0 and torch.is_tensor(log[name]) and torch.is_tensor(several[name])


# ---- gradients


def grads(**options):
    model = Bag()
    torch.manual_seed(5)
    criterion(**{**MARGINS, **options})(model, sample())[0].backward()
    return model.table.grad


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("detach", [False, True])
def test_gradients_are_those_of_the_equations(level, detach):
    """By finite differences; with detach only the scores with the own context move."""
    torch.manual_seed(5)
    orders = [derangement(4).tolist() for _ in range(2)]
    options = {**NOTHING, f"margin_{level}_weight": 1.0, "margin_contexts": 2}
    added = grads(**options, margin_detach=detach) - grads(**NOTHING)

    model, step, moved = Bag(), 1e-6, 0
    for entry in [
        (0, 31, 32),
        (1, 22, 24),
        (1, 46, 34),
        (2, 41, 45),
        (2, EOS, EOS),
        (0, EOS, 34),
        (0, SEP, 42),
    ]:
        values = []
        for change in (step, -2 * step):
            model.table.data[entry] += change
            values.append(from_the_thesis(model, orders, Bag() if detach else None)[level])
        model.table.data[entry] += step
        slope = (values[0] - values[1]) / (2 * step)
        assert added[entry].item() == pytest.approx(slope, abs=1e-6)
        moved += abs(slope) > 1e-4
    assert moved >= 3
