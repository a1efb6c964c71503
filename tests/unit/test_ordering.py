"""The order of examples, and batches cut from it or from runs of consecutive sentences, beside the same done
one example at a time."""

from unittest import mock

import numpy as np
from fairseq.data import data_utils
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data import ordering
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.ordering import Batches, batches_of_runs, by_size, runs

SIZES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), min_size=1, max_size=120)
SEEDS = st.none() | st.integers(0, 9)
LIMIT = st.none() | st.integers(40, 400)
FEW = st.none() | st.integers(1, 20)


def generator(seed):
    return None if seed is None else np.random.default_rng(seed)


def shown(batches):
    return [batch.tolist() for batch in batches]


@given(SIZES, SEEDS, st.integers(1, 50), st.sampled_from([np.int16, np.int32]))
def test_the_order_is_by_size_and_among_equals_by_chance(sizes, seed, chunk, kind):
    columns = [np.array(column, kind) for column in zip(*sizes, strict=True)]
    rank = np.arange(len(sizes)) if seed is None else np.argsort(generator(seed).permutation(len(sizes)))
    with mock.patch.object(ordering, "CHUNK", chunk):
        order = by_size(columns, generator(seed))
    assert order.tolist() == sorted(range(len(sizes)), key=lambda index: (*sizes[index], rank[index]))


@given(SIZES, SEEDS, LIMIT, FEW, st.sampled_from([1, 2, 8]), st.integers(1, 50), st.integers(0, 3))
def test_batches_are_fairseqs_and_the_last_is_kept(
    sizes, seed, max_tokens, max_sentences, multiple, chunk, out
):
    """Also in an order that is not quite that of the tokens, as where windows were shortened."""
    source, target = (np.array(column, np.int16) for column in zip(*sizes, strict=True))
    tokens = np.maximum(source, target)
    indices = by_size([source // (1 + out), target], generator(seed))[out:]
    expected = []
    if len(indices):
        limits = max_tokens, max_sentences, multiple
        whole = tokens[indices].astype(np.int64)
        expected = data_utils.batch_by_size(indices.astype(np.int64), None, whole, *limits)
        rest = indices[sum(map(len, expected)) :]
        expected = [*expected, rest] if len(rest) else expected
    with mock.patch.object(ordering, "CHUNK", chunk):
        assert shown(Batches()(indices, tokens, max_tokens, max_sentences, multiple)) == shown(expected)


@given(SIZES, st.lists(st.tuples(SEEDS, st.integers(0, 3)), min_size=2, max_size=4), LIMIT, LIMIT, FEW)
def test_batches_of_later_epochs_are_those_of_one_that_remembers_nothing(sizes, epochs, first, last, few):
    source, target = (np.array(column, np.int16) for column in zip(*sizes, strict=True))
    tokens = np.maximum(source, target)
    remembering = Batches()
    for number, (seed, out) in enumerate(epochs):
        indices = by_size([source, target], generator(seed))[out:]
        call = indices, tokens, first if number < 2 else last, few
        assert shown(remembering(*call)) == shown(Batches()(*call))


# ---- runs


def runs_one_by_one(lines, lengths, length, offset):
    """Where runs begin, line by line."""
    start = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    run = [(start[line], (line - start[line] + offset) // length) for line in lines]
    breaks = (at for at in range(1, len(lines)) if run[at] != run[at - 1] or lines[at] != lines[at - 1] + 1)
    return [0, *breaks] if len(lines) else []


def batches_one_by_one(parts, tokens, max_tokens, max_sentences, rng):
    """Batches of runs, example by example."""

    def fits(longest, count):
        return not (max_tokens and longest * count > max_tokens or max_sentences and count > max_sentences)

    if rng is not None:
        parts = [parts[number] for number in rng.permutation(len(parts))]
    batches, batch = [], []
    for part in sorted(parts, key=lambda run: max(tokens[place] for place in run)):
        if batch and not fits(max(tokens[place] for place in batch + part), len(batch) + len(part)):
            batches.append(batch)
            batch = []
        for place in part:
            if batch and not fits(max(tokens[p] for p in [*batch, place]), len(batch) + 1):
                batches.append(batch)
                batch = []
            batch = [*batch, place]
    return batches + [batch] if batch else batches


DOCUMENTS = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@given(DOCUMENTS, st.data(), st.integers(1, 6), st.integers(0, 60), st.integers(0, 9), SEEDS)
def test_batches_of_runs_are_those_of_one_example_at_a_time(
    lengths, data, length, max_tokens, max_sentences, seed
):
    offset = data.draw(st.integers(0, length - 1))
    lines = data.draw(st.sets(st.integers(0, sum(lengths) - 1)).map(sorted)) or list(range(sum(lengths)))
    tokens = data.draw(st.lists(st.integers(1, 30), min_size=len(lines), max_size=len(lines)))
    begins = runs(np.array(lines, np.int32), Documents.from_lengths(lengths), length, offset)
    assert begins.tolist() == runs_one_by_one(lines, lengths, length, offset)

    parts = [part.tolist() for part in np.split(np.arange(len(lines)), begins[1:])]
    expected = batches_one_by_one(parts, tokens, max_tokens, max_sentences, generator(seed))
    made = batches_of_runs(begins, np.array(tokens, np.int16), max_tokens, max_sentences, generator(seed))
    assert shown(made) == expected
    for batch in expected:
        assert not max_sentences or len(batch) <= max_sentences
        assert not max_tokens or len(batch) == 1 or max(tokens[p] for p in batch) * len(batch) <= max_tokens


def cut(lengths, sizes, rng=None, **limits):
    """Batches of documents with these lengths, in runs of 4."""
    begins = runs(np.arange(sum(lengths)), Documents.from_lengths(lengths), 4)
    limits = {"max_tokens": None, "max_sentences": None, **limits}
    return batches_of_runs(begins, np.asarray(sizes), rng=rng, **limits)


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
