"""The context-discounted loss against a NumPy computation written from the paper and against fairseq."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.data import Dictionary
from fairseq.logging import metrics
from fairseq.models import BaseFairseqModel
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion, target_weights
from ctxmt_fairseq.text.symbols import SEPARATOR, add_symbols

DICTIONARY = Dictionary()
for _letter in "abcdef":
    DICTIONARY.add_symbol(_letter)
add_symbols(DICTIONARY)
PAD, EOS, SEP = DICTIONARY.pad(), DICTIONARY.eos(), DICTIONARY.index(SEPARATOR)
TASK = SimpleNamespace(target_dictionary=DICTIONARY)
EPSILON = 0.1


def rows(*windows):
    width = max(len(window.split()) for window in windows) + 1
    return torch.tensor(
        [
            [DICTIONARY.index(w) for w in window.split()] + [EOS] + [PAD] * (width - 1 - len(window.split()))
            for window in windows
        ]
    )


# two context sentences; one; none (the first sentence of a document); a separator with nothing before it
TARGET = rows("a b <sep> c <sep> d e f", "a b <sep> c", "f e", "<sep> a")


class Table(BaseFairseqModel):
    """Its logits are its parameters."""

    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.logits = torch.nn.Parameter(torch.randn(*TARGET.shape, len(DICTIONARY)))

    def forward(self, rows):
        return self.logits[rows]


def sample(chosen=(0, 1, 2, 3)):
    target = TARGET[list(chosen)]
    return {
        "net_input": {"rows": torch.tensor(chosen)},
        "target": target,
        "ntokens": int(target.ne(PAD).sum()),
    }


def discounted(discount, **arguments):
    arguments = {"sentence_avg": False, "label_smoothing": EPSILON, **arguments}
    return ContextDiscountedCriterion(TASK, context_discount=discount, **arguments)


def from_the_paper(logits, target, discount):
    """Equation 2 with label smoothing, token by token, and the sums behind Figure 3."""
    result = dict.fromkeys(
        ("loss", "nll", "weights", "current", "current_tokens", "context", "context_sentences", "beside"), 0.0
    )
    vocabulary = logits.shape[-1]
    for row, tokens in zip(logits, target, strict=True):
        window = [token for token in tokens if token != PAD]
        current_start = max((i + 1 for i, token in enumerate(window) if token == SEP), default=0)
        for place, token in enumerate(window):
            log_probabilities = row[place] - np.log(np.exp(row[place]).sum())
            # fairseq's smoothing: the true word has 1 - eps, the others share eps
            wanted = np.full(vocabulary, EPSILON / (vocabulary - 1))
            wanted[token] = 1 - EPSILON
            loss = -(wanted * log_probabilities).sum()
            current = place >= current_start
            weight = 1 if current else discount
            result["loss"] += weight * loss
            result["nll"] -= log_probabilities[token]
            result["weights"] += weight
            result["current" if current else "context"] += loss
            result["beside"] += loss * (current and SEP in window)
            result["current_tokens"] += current
            result["context_sentences"] += token == SEP
    return result


def test_weights_by_hand():
    expected = [
        [0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1],
        [0.5, 0.5, 0.5, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0, 0],
        [0.5, 1, 1, 0, 0, 0, 0, 0, 0],
    ]
    assert target_weights(TARGET, SEP, PAD, 0.5).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([PAD, EOS, SEP, 5, 6]), min_size=1, max_size=8))
def test_weights_of_any_row(row):
    after_last = len(row) - row[::-1].index(SEP) if SEP in row else 0
    expected = [0 if token == PAD else 1 if i >= after_last else 0.25 for i, token in enumerate(row)]
    assert target_weights(torch.tensor([row]), SEP, PAD, 0.25)[0].tolist() == expected


@pytest.mark.parametrize("discount", [0, 0.01, 0.5, 1])
def test_loss_equals_the_paper(discount):
    model = Table()
    loss, sample_size, log = discounted(discount)(model, sample())
    expected = from_the_paper(model.logits.detach().double().numpy(), TARGET.numpy(), discount)
    assert loss.item() == pytest.approx(expected["loss"], rel=1e-5)
    assert log["loss"].item() == pytest.approx(expected["loss"], rel=1e-5)
    assert log["nll_loss"].item() == pytest.approx(expected["nll"], rel=1e-5)
    assert sample_size == log["sample_size"] == sample()["ntokens"]  # undiscounted
    assert log["current_loss"].item() == pytest.approx(expected["current"], rel=1e-5)
    assert log["context_loss"].item() == pytest.approx(expected["context"], rel=1e-5)
    assert log["current_ntokens"] == expected["current_tokens"]
    assert log["context_nsentences"] == expected["context_sentences"]
    assert not any(torch.is_tensor(value) and value.requires_grad for value in log.values())

    _, sample_size, log = discounted(discount, discount_normalisation="weights")(model, sample())
    assert sample_size.item() == log["sample_size"].item() == pytest.approx(expected["weights"], rel=1e-6)


@pytest.mark.parametrize(
    "arguments", [{}, {"sentence_avg": True}, {"ignore_prefix_size": 1}, {"label_smoothing": 0.0}]
)
@pytest.mark.parametrize("reduce", [True, False])
def test_no_discount_is_stock_exactly(arguments, reduce):
    arguments = {"sentence_avg": False, "label_smoothing": EPSILON, **arguments}
    results = []
    for criterion in (discounted(1, **arguments), LabelSmoothedCrossEntropyCriterion(TASK, **arguments)):
        model = Table()
        loss, sample_size, log = criterion(model, sample(), reduce=reduce)
        loss.sum().backward()
        results.append((loss, model.logits.grad, log["loss"], log["nll_loss"], torch.tensor(sample_size)))
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


def test_a_window_without_context_is_not_discounted():
    loss, _, log = discounted(0)(Table(), sample([2]))
    stock, _, _ = LabelSmoothedCrossEntropyCriterion(TASK, False, EPSILON)(Table(), sample([2]))
    assert torch.equal(loss, stock)
    assert log["context_nsentences"] == 0


def test_gradient_follows_the_weights():
    gradients = {}
    for discount in (0, 0.5, 1):
        model = Table()
        discounted(discount)(model, sample())[0].backward()
        gradients[discount] = model.logits.grad
    weights = target_weights(TARGET, SEP, PAD, 0.5).unsqueeze(-1)
    torch.testing.assert_close(gradients[0.5], weights * gradients[1])
    assert not gradients[0][weights.squeeze(-1) < 1].any()


def reduced(logs):
    with metrics.aggregate(new_root=True) as meters:
        ContextDiscountedCriterion.reduce_metrics(logs)
    return meters.get_smoothed_values()


def test_metrics_of_several_workers_are_those_of_one():
    """Sums are aggregated before anything is divided: unequal parts give the numbers of the whole."""
    model = Table()
    criterion = discounted(0.01)
    whole = reduced([criterion(model, sample())[2]])
    parts = reduced([criterion(model, sample(part))[2] for part in ([0], [1, 2], [3])])
    assert parts == pytest.approx(whole, abs=2e-3)

    expected = from_the_paper(model.logits.detach().double().numpy(), TARGET.numpy(), 0.01)
    per_current, per_context = expected["current"] / 4, expected["context"] / expected["context_sentences"]
    assert whole["loss"] == pytest.approx(expected["loss"] / sample()["ntokens"] / math.log(2), abs=1e-3)
    assert whole["current_loss"] == pytest.approx(
        expected["current"] / expected["current_tokens"] / math.log(2), abs=1e-3
    )
    assert whole["current_sentence_loss"] == pytest.approx(per_current / math.log(2), abs=1e-3)
    assert whole["context_sentence_loss"] == pytest.approx(per_context / math.log(2), abs=1e-3)
    beside = expected["beside"] / 3  # the third row has no context, so no part in Figure 3's ratio
    assert whole["current_context_ratio"] == pytest.approx(beside / per_context, abs=1e-3)
    assert abs(beside - per_current) / per_context > 5e-3
    assert not [name for name in whole if name.startswith("_")]


def test_a_prefix_that_is_ignored_has_no_part_in_the_ratio():
    """The last window's only separator is ignored: what is left of it is a window without context."""
    logs = discounted(0.01, ignore_prefix_size=1)(Table(), sample())[2]
    assert logs["context_nsentences"] == 3 and logs["beside_context_nsentences"] == 2


def test_metrics_over_many_updates_weight_each_by_its_size():
    model, criterion = Table(), discounted(0.01)
    logs = [criterion(model, sample(part))[2] for part in ([2], [0], [1, 3])]  # the first has no context
    with metrics.aggregate(new_root=True) as meters:
        for log in logs:
            ContextDiscountedCriterion.reduce_metrics([log])
    assert meters.get_smoothed_values() == pytest.approx(reduced(logs), abs=2e-3)


def test_a_logging_interval_without_context_has_no_ratio_either():
    with metrics.aggregate(new_root=True) as meters:
        ContextDiscountedCriterion.reduce_metrics([discounted(0.01)(Table(), sample())[2]])
        meters.reset()  # as fairseq does after every --log-interval
        ContextDiscountedCriterion.reduce_metrics([discounted(0.01)(Table(), sample([2]))[2]])
    assert math.isnan(meters.get_smoothed_values()["current_context_ratio"])


def test_without_context_there_is_no_ratio():
    values = reduced([discounted(0.01)(Table(), sample([2]))[2]])
    assert "current_loss" in values and "current_context_ratio" not in values


@pytest.mark.parametrize("discount", [-0.1, 1.5])
def test_discount_outside_0_and_1_is_refused(discount):
    with pytest.raises(BadInput, match="between 0 and 1"):
        discounted(discount)


def test_contradictions_are_refused():
    with pytest.raises(BadInput, match="sentence-avg"):
        discounted(0.5, sentence_avg=True, discount_normalisation="weights")
    with pytest.raises(BadInput, match=SEPARATOR):
        ContextDiscountedCriterion(SimpleNamespace(target_dictionary=Dictionary()), False, EPSILON)
