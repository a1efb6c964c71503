"""Batches of runs beside the same cut one example at a time, and beside what the model is then given."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.run_batches import Inputs, batches_of_runs, runs
from tests.unit.multi_source_models import dataset, make
from tests.unit.window_datasets import Sentences

SEEDS = st.none() | st.integers(0, 9)
DOCUMENTS = st.lists(st.integers(1, 9), min_size=1, max_size=8)
LENGTH, ROWS = st.integers(1, 30), st.integers(0, 4)
NOTHING = dict.fromkeys(("source_context", "source_context_after", "target_context_on_source"), 0)


def generator(seed):
    return None if seed is None else np.random.default_rng(seed)


def shown(batches):
    return [batch.tolist() for batch in batches]


# ---- one example at a time -------------------------------------------------------------------------------


def runs_one_by_one(lines, lengths, length, offset):
    """Where runs begin, line by line."""
    start = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    run = [(start[line], (line - start[line] + offset) // length) for line in lines]
    breaks = (at for at in range(1, len(lines)) if run[at] != run[at - 1] or lines[at] != lines[at - 1] + 1)
    return [0, *breaks] if len(lines) else []


def encoded(batch, examples, run_of):
    """Tokens on the source and on the target side of a batch, pads included."""
    source, context, target = (max(examples[place][side] for place in batch) for side in range(3))
    rows = 0
    for at, place in enumerate(batch):
        beside = at and batch[at - 1] == place - 1 and run_of[place] == run_of[place - 1]
        rows += examples[place][3 if beside else 4]
    return source * len(batch) + context * rows, target * len(batch)


def batches_one_by_one(parts, examples, max_tokens, max_sentences, rng):
    """Batches of runs, example by example."""
    run_of = {place: number for number, part in enumerate(parts) for place in part}

    def fits(batch):
        within = not max_tokens or max(encoded(batch, examples, run_of)) <= max_tokens
        return within and (not max_sentences or len(batch) <= max_sentences)

    if rng is not None:
        parts = [parts[number] for number in rng.permutation(len(parts))]
    batches, batch = [], []
    for part in sorted(parts, key=lambda run: max(max(examples[place][:3]) for place in run)):
        if batch and not fits(batch + part):
            batches.append(batch)
            batch = []
        for place in part:
            if batch and not fits([*batch, place]):
                batches.append(batch)
                batch = []
            batch = [*batch, place]
    return batches + [batch] if batch else batches


@given(DOCUMENTS, st.data(), st.integers(1, 6), st.integers(0, 120), st.integers(0, 9), SEEDS)
def test_batches_are_those_of_one_example_at_a_time(lengths, data, length, max_tokens, max_sentences, seed):
    offset = data.draw(st.integers(0, length - 1))
    lines = data.draw(st.sets(st.integers(0, sum(lengths) - 1)).map(sorted)) or list(range(sum(lengths)))
    n = len(lines)
    example = st.tuples(LENGTH, LENGTH, LENGTH, ROWS, ROWS)
    examples = data.draw(st.lists(example, min_size=n, max_size=n))
    begins = runs(np.array(lines, np.int32), Documents.from_lengths(lengths), length, offset)
    assert begins.tolist() == runs_one_by_one(lines, lengths, length, offset)

    parts = [part.tolist() for part in np.split(np.arange(n), begins[1:])]
    expected = batches_one_by_one(parts, examples, max_tokens, max_sentences, generator(seed))
    inputs = Inputs(*np.array(examples, np.int16).T)
    assert shown(batches_of_runs(begins, inputs, max_tokens, max_sentences, generator(seed))) == expected


# ---- order -----------------------------------------------------------------------------------------------


def cut(lengths, sizes, rng=None, **limits):
    """Batches of documents with these lengths, in runs of 4, of sentences without context."""
    begins = runs(np.arange(sum(lengths)), Documents.from_lengths(lengths), 4)
    limits = {"max_tokens": None, "max_sentences": None, **limits}
    sizes, none = np.asarray(sizes), np.zeros(len(sizes), int)
    return batches_of_runs(begins, Inputs(sizes, none, sizes, none, none), rng=rng, **limits)


def test_runs_of_equal_size_share_a_batch_by_chance():
    lengths, sizes = [4] * 50, [10] * 200
    in_order = cut(lengths, sizes, max_sentences=8)
    assert shown(in_order) == np.arange(200).reshape(25, 8).tolist()
    drawn = [cut(lengths, sizes, np.random.default_rng(seed), max_sentences=8) for seed in (1, 2)]
    for batches in drawn:
        assert all((np.diff(batch.reshape(2, 4)) == 1).all() for batch in batches), "the runs stay whole"
        neighbours = sum(abs(batch[0] - batch[4]) == 4 for batch in batches)
        assert neighbours < 5
    assert str(drawn[0]) != str(drawn[1])


def test_runs_of_another_size_stay_apart():
    sizes = np.repeat([30, 10, 30, 10], 4)
    batches = cut([16], sizes, np.random.default_rng(1), max_tokens=240)
    assert sorted(sizes[batch].tolist() for batch in batches) == [[10] * 8, [30] * 8]


# ---- what the model is given -----------------------------------------------------------------------------


def given_to_the_encoder(batch, reused):
    """Rows of context that are encoded, and all tokens of the encoder, pads included."""
    inputs = batch["net_input"]
    context = inputs["context_tokens"]
    reused = reused and "context_new" in inputs  # not where current sentences have changed places
    rows = len(inputs["context_new"]) if reused else context.flatten(0, -2).shape[0]
    return rows, inputs["src_tokens"].numel() + rows * context.shape[-1]


WINDOWS = {
    "before": dict(source_context=2, source_context_after=0, target_context_on_source=0),
    "after": dict(source_context=0, source_context_after=2, target_context_on_source=0),
    "around": dict(source_context=2, source_context_after=1, target_context_on_source=0),
    "target": dict(source_context=0, source_context_after=0, target_context_on_source=2),
    "all": dict(source_context=2, source_context_after=1, target_context_on_source=1),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", ["caching tokens", "dual serial"])
def test_the_sentences_of_a_run_are_counted_as_often_as_they_are_encoded(case, window):
    model = make(case)
    data = dataset(model, lengths=(30,), batch_runs=30, **WINDOWS[window])
    reused = case == "caching tokens"
    for begin, end in ((0, 30), (0, 2), (7, 13), (28, 30)):
        indices = np.arange(begin, end)
        inputs = data._inputs(indices)
        rows, _ = given_to_the_encoder(data.collater([data[index] for index in indices]), reused)
        counted = inputs.alone[0] + inputs.rows[1:].sum()
        assert counted == rows, (begin, end)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"sample_context_size": True},
        *({"context_selection": kind} for kind in ("random", "empty", "swapped")),
    ],
)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", ["caching tokens", "gated"])
def test_batches_hold_what_is_allowed_and_are_filled(case, window, more):
    model = make(case)
    lengths = (40, 3, 90, 60) * 3
    data = dataset(model, lengths=lengths, batch_runs=6, training=True, **WINDOWS[window], **more)
    limit, filled = 1500, []
    for batch in data.batch_by_size(data.ordered_indices(), max_tokens=limit):
        made = data.collater([data[index] for index in batch])
        _, tokens = given_to_the_encoder(made, case == "caching tokens")
        assert max(tokens, made["target"].numel()) <= limit
        filled.append(max(tokens, made["target"].numel()))
    assert np.mean(filled[:-1]) > 0.7 * limit


@pytest.mark.parametrize("case", ["caching tokens", "gated"])
def test_context_that_a_window_has_no_room_for_counts_for_nothing(case):
    model = make(case)
    data = dataset(
        model, lengths=(300,), batch_runs=6, training=True, source_context=2, source_context_after=0,
        target_context_on_source=0, target_context=0,
    )  # fmt: skip
    # Every 40th is too long to be current, or context.
    data.source = Sentences(torch.full((1000 if line % 40 == 5 else 9,), 7) for line in range(300))
    indices, _ = data.filter_indices_by_size(data.ordered_indices(), (100, 100))
    batches = data.batch_by_size(indices, max_tokens=600)
    assert data._inputs(np.sort(indices)).context.max() < 12
    assert np.mean([len(batch) for batch in batches]) > 20


def test_masked_sentences_are_encoded_beside_the_context():
    model = make("caching tokens")
    plain, masked = (dataset(model, batch_runs=4, training=True, coword_dropout=drop) for drop in (0.0, 0.2))
    indices = np.arange(10, 20)
    assert masked._inputs(indices).rows.sum() > plain._inputs(indices).rows.sum()


def test_without_an_index_every_row_is_counted():
    data = dataset(batch_runs=4)  # of a model that wants the rows themselves
    inputs = data._inputs(np.arange(10, 20))
    rows, _ = given_to_the_encoder(data.collater([data[index] for index in range(10, 20)]), False)
    assert inputs.alone[0] + inputs.rows[1:].sum() == rows == 40
