"""Examples of like sizes side by side: few pads, no example lost, the order drawn from the seed."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmt_fairseq.data.ordering import LARGEST, by_size, winding
from tests.helpers.multi_source_models import dataset as rows_dataset
from tests.helpers.window_datasets import dataset as window_dataset

DOCUMENTS = (4,) * 500


@given(st.lists(st.tuples(st.integers(0, 70000), st.integers(0, 70000)), min_size=1, max_size=50))
@example([(65535, 1), (65536, 0)])  # sizes of more than two bytes count in full
def test_the_first_size_counts_most(sizes):
    order = by_size(np.array(sizes).T)
    assert order.tolist() == sorted(range(len(sizes)), key=lambda index: (sizes[index], index))


@given(st.lists(st.tuples(*[st.integers(0, 2000)] * 3), min_size=1, max_size=50), st.integers(0, 9))
def test_each_example_once_and_equal_ones_in_an_order_that_is_drawn(sizes, seed):
    turned = winding(np.array(sizes).T)
    order, drawn = by_size(turned), by_size(turned, np.random.default_rng(seed))
    assert sorted(drawn) == list(range(len(sizes)))
    capped = np.minimum(sizes, LARGEST)
    assert np.array_equal(capped[order], capped[drawn])


def test_winding_takes_one_step_at_a_time():
    sizes = np.array(list(itertools.product(range(5), range(4), range(3))))
    steps = np.diff(sizes[by_size(winding(sizes.T), np.random.default_rng(1))], axis=0)
    assert (np.abs(steps).sum(axis=1) == 1).all()


def pads(data, indices):
    """Share of pads in batches of 16 with these examples."""
    made = [data.collater(data.__getitems__(indices[at : at + 16])) for at in range(0, len(indices), 16)]
    tokens = [[batch["net_input"]["src_tokens"], batch["target"]] for batch in made]
    tokens += [[batch["windows"]["tokens"]] for batch in made if "tokens" in batch["windows"]]
    flat = np.concatenate([part.numpy().ravel() for parts in tokens for part in parts])
    return float((flat == data.padding["pad_idx"]).mean())


def test_fewer_pads_than_in_the_order_of_whole_windows():
    data = rows_dataset(lengths=DOCUMENTS, longest=30, source_context_after=0, target_context=0)
    stock = np.lexsort((data.whole_sizes.target, data.whole_sizes.source))
    assert pads(data, data.ordered_indices()) < 0.8 * pads(data, stock)


@pytest.mark.parametrize(
    "data",
    [
        window_dataset(DOCUMENTS, longest=30, window={"source_context": 1, "target_context": 1}),
        rows_dataset(lengths=DOCUMENTS, longest=30, context_selection="absent"),
    ],
    ids=["windows", "rows without context"],
)
def test_the_order_is_fairseqs(data):
    stock = np.lexsort((data.whole_sizes.target, data.whole_sizes.source))
    assert data.ordered_indices().tolist() == stock.tolist()
