"""Groups of like length, beside the best of all ways to cut a batch."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data.length_groups import length_groups

ROWS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=9)


def columns(rows):
    """Both lengths of each row, in falling order of the first."""
    return [np.array(column) for column in zip(*sorted(rows, reverse=True), strict=True)]


def tokens(bounds, lengths):
    """With pads, of groups between these borders."""
    return sum(
        (end - begin) * sum(int(column[begin:end].max()) for column in lengths)
        for begin, end in itertools.pairwise(bounds)
    )


@given(rows=ROWS)
def test_no_other_groups_have_fewer_tokens(rows):
    lengths, n = columns(rows), len(rows)
    groups = length_groups(*lengths)
    bounds = [group.begin for group in groups] + [n] if groups else [0, n]
    whole = tokens([0, n], lengths)
    costs = {
        cuts: tokens([0, *cuts, n], lengths) + 0.05 * whole * (len(cuts) + 1)
        for number in range(n)
        for cuts in itertools.combinations(range(1, n), number)
    }
    assert costs[tuple(bounds[1:-1])] == pytest.approx(min(costs.values()))


@given(rows=ROWS)
def test_groups_hold_every_row_once_and_name_the_longest(rows):
    lengths = columns(rows)
    groups = length_groups(*lengths)
    assert [row for group in groups for row in range(len(rows))[group.rows]] == (
        list(range(len(rows))) if groups else []
    )
    for group in groups:
        assert group.widths == tuple(column[group.rows].max() for column in lengths)


def test_rows_of_one_length_stay_together_and_so_do_none():
    assert length_groups(np.full(50, 7), np.full(50, 9)) == ()
    assert length_groups(np.array([5])) == length_groups(np.empty(0, np.int64)) == ()


def test_a_batch_of_thousands_of_rows_is_cut_in_a_few_places():
    lengths = np.sort(np.random.default_rng(1).gamma(3, 7, 5000).astype(int) + 1)[::-1]
    groups = length_groups(lengths, lengths)
    assert groups[-1].end == 5000 and 3 <= len(groups) <= 8
    padded = sum((group.end - group.begin) * group.widths[0] for group in groups)
    assert padded < 0.4 * lengths.max() * 5000
