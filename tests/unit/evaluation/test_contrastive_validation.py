"""Which examples ``--valid-contrast-examples`` scores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.evaluation.contrastive_sets import Candidate, ContrastiveExample
from ctxmt_fairseq.evaluation.contrastive_validation import drawn


def example(source, correct, candidates="ab"):
    texts = tuple(Candidate((), text) for text in candidates)
    return ContrastiveExample("", (str(correct),), source, (), texts, correct, "", None)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=20), st.integers(1, 70))
def test_twins_stay_together(sizes, most):
    """In groups of neighbours each of which has another right candidate."""
    groups = [[example(f"{number}", place, "abc"[:size] + "d") for place in range(size)]
              for number, size in enumerate(sizes)]  # fmt: skip
    examples = sum(groups, [])
    found = drawn(examples, most)
    assert 0 < len(found) <= most and found == sorted(set(found)) == drawn(examples, most)
    if most >= len(examples):
        assert len(found) == len(examples)
    if most >= max(sizes):
        kept = {examples[place].source for place in found}
        assert [examples[place] for place in found] == [one for one in examples if one.source in kept]
        assert len(found) > min(most, len(examples)) - max(sizes)


@pytest.mark.parametrize("most", [50, 75, 100, 150])
def test_a_set_that_alternates_is_drawn_from_evenly(most):
    """With a model that reads no context, and always takes the first candidate."""
    examples = [example(f"{number // 2}", number % 2) for number in range(300)]
    right = [examples[place].correct == 0 for place in drawn(examples, most)]
    assert len(right) == most // 2 * 2 and 2 * sum(right) == len(right)
    examples = [example(f"{number}", number % 2) for number in range(300)]  # no twins
    right = [examples[place].correct == 0 for place in drawn(examples, most)]
    assert len(right) == most and abs(sum(right) / most - 0.5) < 0.15
