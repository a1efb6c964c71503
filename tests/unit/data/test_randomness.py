"""Random numbers are a function of their coordinates, and look random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data.randomness import CONTEXT_SIZE, COWORD, ORDER, RANDOM_CONTEXT, bits, uniform

STREAMS = (CONTEXT_SIZE, RANDOM_CONTEXT, COWORD, ORDER)
LINES = np.arange(20_000)


@given(
    st.sampled_from(STREAMS),
    st.integers(0, 10**6),
    st.integers(0, 100),
    st.lists(st.integers(0, 2**40), min_size=1, max_size=5),
    st.lists(st.integers(0, 99), min_size=1, max_size=3),
)
def test_arrays_give_the_numbers_of_their_elements(stream, seed, epoch, index, draw):
    together = bits(stream, seed, epoch, np.array(index)[:, None], np.array(draw))
    assert together.shape == (len(index), len(draw)) and together.dtype == np.uint64
    alone = [[int(bits(stream, seed, epoch, i, d)) for d in draw] for i in index]
    assert together.tolist() == alone
    narrow = bits(stream, seed, epoch, np.array(index, np.int64), np.int32(draw[0]))
    assert narrow.tolist() == [row[0] for row in alone]


def test_the_numbers_never_change():
    """They decide what an old checkpoint sees when it is resumed; computed with Python's own integers."""

    def mix(value):
        value = (value + 0x9E3779B97F4A7C15) % 2**64
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
        return value ^ value >> 31

    expected = 0
    for coordinate in (COWORD, 7, 3, 12345, 6):
        expected = mix(expected ^ coordinate)
    assert int(bits(COWORD, 7, 3, 12345, 6)) == expected
    assert float(uniform(COWORD, 7, 3, 12345, 6)) == (expected >> 11) / 2**53


@pytest.mark.parametrize("stream", STREAMS)
def test_numbers_are_uniform_along_every_coordinate(stream):
    for numbers in (
        uniform(stream, 1, 1, LINES),
        uniform(stream, 1, 1, 5, LINES),
        np.array([float(uniform(stream, 1, epoch, 5)) for epoch in range(4000)]),
        np.array([float(uniform(stream, seed, 1, 5)) for seed in range(4000)]),
    ):
        assert 0 <= numbers.min() and numbers.max() < 1
        counts = np.histogram(numbers, bins=10, range=(0, 1))[0]
        expected = len(numbers) / 10
        assert ((counts - expected) ** 2 / expected).sum() < 27.9  # chi-square, 9 degrees, p = 0.001
        assert len(np.unique(numbers)) == len(numbers)


def test_streams_seeds_epochs_and_lines_are_independent():
    columns = [uniform(stream, 1, 1, LINES) for stream in STREAMS]
    columns += [uniform(COWORD, 2, 1, LINES), uniform(COWORD, 1, 2, LINES), uniform(COWORD, 1, 1, LINES, 1)]
    columns += [np.roll(columns[0], 1)]
    correlation = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(correlation).max() < 4 / np.sqrt(len(LINES))
