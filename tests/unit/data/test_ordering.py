"""The order of examples, and batches cut from it, beside the same done one example at a time."""

from unittest import mock

import numpy as np
from fairseq.data import data_utils
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data import ordering
from ctxmt_fairseq.data.ordering import Batches, by_size

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
