"""Batches cut from runs of consecutive sentences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data.ordering import batches_of_runs, runs


def cut(lengths, sizes, rng=None, **limits):
    """Batches of documents with these lengths, in runs of 4."""
    documents = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    parts = runs(np.arange(len(documents)), documents, 4)
    limits = {"max_tokens": None, "max_sentences": None, **limits}
    return batches_of_runs(parts, np.asarray(sizes), rng=rng, **limits)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.data(),
    st.integers(0, 60),
    st.integers(0, 9),
    st.booleans(),
)
def test_every_sentence_once_within_the_limits(lengths, data, max_tokens, max_sentences, shuffled):
    sizes = data.draw(st.lists(st.integers(1, 30), min_size=sum(lengths), max_size=sum(lengths)))
    rng = np.random.default_rng(1) if shuffled else None
    batches = cut(lengths, sizes, rng, max_tokens=max_tokens, max_sentences=max_sentences)
    assert sorted(np.concatenate(batches).tolist()) == list(range(sum(lengths)))
    for batch in batches:
        assert not max_sentences or len(batch) <= max_sentences
        assert (
            not max_tokens
            or len(batch) == 1
            or max(sizes[place] for place in batch) * len(batch) <= max_tokens
        )


def test_runs_of_equal_size_share_a_batch_by_chance():
    lengths, sizes = [4] * 50, [10] * 200
    in_order = cut(lengths, sizes, max_sentences=8)
    assert [batch.tolist() for batch in in_order] == np.arange(200).reshape(25, 8).tolist()
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
