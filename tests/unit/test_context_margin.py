"""The margin loss against a NumPy computation written from the thesis, and through a real model."""

import argparse
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics
from fairseq.models import BaseFairseqModel, build_model

from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion
from ctxmt_fairseq.criterions.context_margin import (
    LEVELS,
    ContextMarginCriterion,
    ContextMarginCriterionConfig,
)
from ctxmt_fairseq.data.context_exchange import WindowFormat, derangement, exchange_windows
from ctxmt_fairseq.errors import BadInput
from tests.unit.window_datasets import EOS, PAD, SEP, VOCABULARY, dataset, joined

EPSILON = 0.1
MARGINS = {"margin_data": 0.3, "margin_sentence": 0.2, "margin_token": 0.1}
SOURCE, TARGET = WindowFormat(SEP, PAD, EOS, left_pad=True), WindowFormat(SEP, PAD, EOS)


class Task:
    """What a criterion and a model ask of their task."""

    source_dictionary = target_dictionary = VOCABULARY

    def exchange_context(self, sample, order):
        return exchange_windows(sample, order, SOURCE, TARGET)


class Bag(BaseFairseqModel):
    """Scores each next token by the one before it and by the means of the source and the target window."""

    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.table = torch.nn.Parameter(torch.randn(3, len(VOCABULARY), len(VOCABULARY), dtype=torch.float64))

    def forward(self, src_tokens, src_lengths, prev_output_tokens):
        def mean(table, tokens):
            real = tokens.ne(PAD).unsqueeze(-1)
            return ((table[tokens] * real).sum(1) / real.sum(1)).unsqueeze(1)

        previous, source, target = self.table
        logits = previous[prev_output_tokens] + mean(source, src_tokens) + mean(target, prev_output_tokens)
        return (logits,)

    def get_normalized_probs(self, net_output, log_probs, sample=None):
        return torch.log_softmax(net_output[0], -1)  # fairseq's gives float32


# (source before, current source, source after), (target before, current target), in words; the first example
# has no context
TEXT = [
    (([], [21, 22], []), ([], [23, 24, 25])),
    (([[26]], [27], [[28, 29]]), ([[31], [32, 33]], [34, 35])),
    (([[36, 37], [38]], [39], []), ([[41]], [42, 43, 44, 45])),
    (([[46]], [47, 48], []), ([], [])),
]


def windows(current, context):
    """The source and the target window, as lists, of one example's current sentence in another's context."""
    ((_, source, _), (_, target)), ((before, _, after), (target_before, _)) = TEXT[current], TEXT[context]
    return tuple(
        joined([[*sentence, EOS] for sentence in sentences])
        for sentences in ([*before, source, *after], [*target_before, target])
    )


def sample(chosen=(0, 1, 2, 3)):
    pairs = [windows(number, number) for number in chosen]
    width, target_width = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
    target = torch.tensor([row + [PAD] * (target_width - len(row)) for _, row in pairs])
    previous = [[EOS, *row[:-1]] + [PAD] * (target_width - len(row)) for _, row in pairs]
    texts = [TEXT[number] for number in chosen]
    return {
        "id": torch.tensor(chosen),
        "ntokens": sum(len(row) for _, row in pairs),
        "net_input": {
            "src_tokens": torch.tensor([[PAD] * (width - len(row)) + row for row, _ in pairs]),
            "src_lengths": torch.tensor([len(row) for row, _ in pairs]),
            "prev_output_tokens": torch.tensor(previous),
        },
        "target": target,
        "windows": {
            "current_segment": torch.tensor([len(source[0]) for source, _ in texts]),
            "target_context_sizes": torch.tensor([len(target[0]) for _, target in texts]),
        },
    }


def criterion(task=None, **options):
    given = {"sentence_avg": False, "label_smoothing": EPSILON, **options}
    return ContextMarginCriterion(ContextMarginCriterionConfig(**given), task or Task())


NOTHING = {f"margin_{level}_weight": 0.0 for level in LEVELS}


def only(level, **options):
    return criterion(**{**NOTHING, f"margin_{level}_weight": 1.0, **MARGINS, **options})


# ---- the equations


def log_softmax(logits):
    return logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()


def token_scores(model, current, context):
    """log p of each current target token and </s>, in one window: equation 2.8, s_tok."""
    previous, source, target = model.table.detach().numpy()
    source_window, target_window = windows(current, context)
    decoder_input = [EOS, *target_window[:-1]]
    shared = source[source_window].mean(0) + target[decoder_input].mean(0)
    scores = [log_softmax(previous[a] + shared)[b] for a, b in zip(decoder_input, target_window, strict=True)]
    return np.array(scores[-(len(TEXT[current][1][1]) + 1) :])


def from_the_thesis(model, orders, other_model=None):
    """Equations 2.8 to 2.10 with the random contexts of ``orders``, a list of M permutations, and the gap.

    ``other_model``, if there is one, gives the scores with random contexts.
    """
    delta_data, delta_sentence, delta_token = MARGINS.values()
    result = dict.fromkeys([*LEVELS, "gap", "tokens"], 0.0)
    data = 0.0
    for current in range(len(TEXT)):
        own = token_scores(model, current, current)
        random = [token_scores(other_model or model, current, order[current]) for order in orders]
        sentence = np.log(np.mean([np.exp(scores.sum()) for scores in random]))
        data += own.sum() - sentence
        result["sentence"] += max(0, len(own) * delta_sentence - own.sum() + sentence)
        for place, score in enumerate(own):
            without = np.log(np.mean([np.exp(scores[place]) for scores in random]))
            result["token"] += max(0, delta_token - score + without)
            result["gap"] += score - without
            result["tokens"] += 1
    result["data"] = max(0, result["tokens"] * delta_data - data)
    return result


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
    assert len({gap(0, made, model, id=torch.arange(4) + first) for first in range(9)}) > 1
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
    data = dataset(window=window, context_inputs=("current_segment", "target_context_sizes"))
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
    with pytest.raises(BadInput, match="expected one of the tasks with context"):
        criterion(SimpleNamespace(target_dictionary=VOCABULARY))
