"""Batches of spans beside the same cut one example at a time, and beside what the model is then given."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data.span_batches import Inputs, batches_of_spans, span_begins
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.multi_source_models import dataset, make
from tests.helpers.window_datasets import Sentences

SEEDS = st.none() | st.integers(0, 9)
DOCUMENTS = st.lists(st.integers(1, 9), min_size=1, max_size=8)
LENGTH, ROWS = st.integers(1, 30), st.integers(0, 4)
NOTHING = dict.fromkeys(("source_context", "source_context_after", "target_context_on_source"), 0)


def generator(seed):
    return None if seed is None else np.random.default_rng(seed)


def shown(batches):
    return [batch.tolist() for batch in batches]


# ---- one example at a time -------------------------------------------------------------------------------


def spans_one_by_one(lines, lengths, length, offset):
    """Where spans begin, line by line."""
    start = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    span = [(start[line], (line - start[line] + offset) // length) for line in lines]
    breaks = (at for at in range(1, len(lines)) if span[at] != span[at - 1] or lines[at] != lines[at - 1] + 1)
    return [0, *breaks] if len(lines) else []


@given(DOCUMENTS, st.data(), st.integers(1, 6), st.integers(0, 120), st.integers(0, 9), SEEDS)
def test_no_example_is_lost_and_no_batch_is_too_large(lengths, data, length, max_tokens, max_sentences, seed):
    offset = data.draw(st.integers(0, length - 1))
    lines = data.draw(st.sets(st.integers(0, sum(lengths) - 1)).map(sorted)) or list(range(sum(lengths)))
    n = len(lines)
    sizes = np.array(data.draw(st.lists(st.tuples(LENGTH, LENGTH, LENGTH), min_size=n, max_size=n)), np.int16)
    reused, width = data.draw(st.booleans()), data.draw(ROWS)
    context = st.lists(st.integers(-1, sum(lengths) + 3), min_size=width, max_size=width)
    names = np.array(data.draw(st.lists(context, min_size=n, max_size=n)), np.int64).reshape(n, width)
    if reused:
        names = np.column_stack([lines, names])
    inputs = Inputs(*sizes.T, names, reused)
    begins = span_begins(np.array(lines, np.int32), Documents.from_lengths(lengths), length, offset)
    assert begins.tolist() == spans_one_by_one(lines, lengths, length, offset)
    limits = max_tokens, max_sentences
    batches = shown(batches_of_spans(begins, inputs, *limits, generator(seed)))
    assert batches == shown(batches_of_spans(begins, inputs, *limits, generator(seed)))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lines)))
    cuts = {*begins.tolist(), len(lines)}
    for batch in batches:
        assert not max_sentences or len(batch) <= max_sentences
        ends = [
            at for at, (a, b) in enumerate(zip(batch, batch[1:], strict=False), 1) if b != a + 1 or b in cuts
        ]
        pieces = np.split(np.array(batch), ends)
        rows = sum(len({*names[piece].ravel()} - {-1}) - reused * len(piece) for piece in pieces)
        source, context, target = (int(size) for size in sizes[batch].max(0))
        tokens = max(source * len(batch) + context * rows, target * len(batch))
        assert not max_tokens or len(batch) == 1 or tokens <= max_tokens


# ---- order -----------------------------------------------------------------------------------------------


def cut(lengths, sizes, rng=None, **limits):
    """Batches of documents with these lengths, in spans of 4, of sentences without context."""
    begins = span_begins(np.arange(sum(lengths)), Documents.from_lengths(lengths), 4)
    limits = {"max_tokens": None, "max_sentences": None, **limits}
    sizes = np.asarray(sizes)
    nothing = np.zeros_like(sizes), sizes, np.empty((len(sizes), 0))
    return batches_of_spans(begins, Inputs(sizes, *nothing), rng=rng, **limits)


def test_spans_of_equal_size_share_a_batch_by_chance():
    lengths, sizes = [4] * 50, [10] * 200
    in_order = cut(lengths, sizes, max_sentences=8)
    assert shown(in_order) == np.arange(200).reshape(25, 8).tolist()
    drawn = [cut(lengths, sizes, np.random.default_rng(seed), max_sentences=8) for seed in (1, 2)]
    for batches in drawn:
        assert all((np.diff(batch.reshape(2, 4)) == 1).all() for batch in batches), "the spans stay whole"
        neighbours = sum(abs(batch[0] - batch[4]) == 4 for batch in batches)
        assert neighbours < 5
    assert str(drawn[0]) != str(drawn[1])


def test_spans_of_another_size_stay_apart():
    sizes = np.repeat([30, 10, 30, 10], 4)
    batches = cut([16], sizes, np.random.default_rng(1), max_tokens=240)
    assert sorted(sizes[batch].tolist() for batch in batches) == [[10] * 8, [30] * 8]


# ---- what the model is given -----------------------------------------------------------------------------


def given_to_the_encoder(batch):
    """Rows of context that are encoded, and all tokens of the encoder, pads included."""
    inputs = batch["net_input"]
    tokens = batch["windows"]["tokens"]
    return len(tokens), inputs["src_tokens"].numel() + tokens.numel()


WINDOWS = {
    "before": dict(source_context=2, source_context_after=0, target_context_on_source=0),
    "after": dict(source_context=0, source_context_after=2, target_context_on_source=0),
    "around": dict(source_context=2, source_context_after=1, target_context_on_source=0),
    "target": dict(source_context=0, source_context_after=0, target_context_on_source=2),
    "all": dict(source_context=2, source_context_after=1, target_context_on_source=1),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", ["caching tokens", "dual serial"])
def test_the_sentences_of_a_span_are_counted_as_often_as_they_are_encoded(case, window):
    model = make(case)
    data = dataset(model, lengths=(30,), batch_runs=30, **WINDOWS[window])
    for begin, end in ((0, 30), (0, 2), (7, 13), (28, 30)):
        indices = np.arange(begin, end)
        rows, _ = given_to_the_encoder(data.collater([data[index] for index in indices]))
        assert data._inputs(indices).loads(np.array([0]))[4] == rows, (begin, end)


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
        _, tokens = given_to_the_encoder(made)
        assert max(tokens, made["target"].numel()) <= limit
        filled.append(max(tokens, made["target"].numel()))
    assert np.mean(filled[:-1]) > 0.5 * limit


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
    assert np.mean([len(batch) for batch in batches]) > 20


def test_masked_sentences_are_encoded_beside_the_context():
    model = make("caching tokens")
    plain, masked = (dataset(model, batch_runs=4, training=True, coword_dropout=drop) for drop in (0.0, 0.2))
    indices = np.arange(10, 20)
    assert not masked._inputs(indices).reused and plain._inputs(indices).reused
    made = [data.collater([data[index] for index in indices]) for data in (masked, plain)]
    assert given_to_the_encoder(made[0])[0] > given_to_the_encoder(made[1])[0]
