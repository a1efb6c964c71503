"""The order of windows, batches that lose none of them, and limits of length."""

import logging

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.batched_windows import AllLines
from tests.helpers.multi_source_models import dataset as rows_dataset
from tests.helpers.window_datasets import K3, dataset


def batches(data, limits=(1024, 1024), max_tokens=80, max_sentences=None, multiple=8):
    """Batches the way fairseq's task makes them."""
    indices, _ = data.filter_indices_by_size(data.ordered_indices(), limits)
    return [list(map(int, b)) for b in data.batch_by_size(indices, max_tokens, max_sentences, multiple)]


# ---- order and batches


@pytest.mark.parametrize("lines", [1, 5, 43])
@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("limits", [(None, 3), (60, None), (90, 8), (None, None)])
def test_no_sentence_is_lost(lines, multiple, training, limits):
    data = dataset((lines,), training=training)
    max_tokens, max_sentences = limits
    made = batches(data, max_tokens=max_tokens, max_sentences=max_sentences, multiple=multiple)
    assert sorted(index for batch in made for index in batch) == list(range(lines))
    for batch in made:
        assert max_sentences is None or len(batch) <= max_sentences
        assert max_tokens is None or len(batch) * max(map(data.num_tokens, batch)) <= max_tokens


def test_examples_are_ordered_by_size():
    data = dataset()
    assert data.ordered_indices().tolist() == sorted(range(43), key=lambda index: (*data.size(index), index))
    shuffled = dataset(training=True).ordered_indices()
    assert [data.size(i) for i in shuffled] == [data.size(i) for i in data.ordered_indices()]


def test_equal_sizes_are_shuffled_anew_by_seed_and_epoch():
    def order(seed=1, epoch=1):
        data = dataset((200,), training=True, window={}, longest=0, seed=seed)
        data.set_epoch(epoch)
        return data.ordered_indices().tolist()

    assert order() == order() and sorted(order()) == list(range(200))
    assert len({tuple(o) for o in (order(), order(2), order(1, 2), list(range(200)))}) == 4


HISTORIES = [
    (dict(K3, sample_context_size=sampled, context_selection=selection), limits)
    for sampled in (False, True)
    for selection in ("document", "random")
    for limits in ((1024, 1024), (22, 1024), (20, 15))
]


@pytest.mark.parametrize("window, limits", HISTORIES)
def test_batches_depend_on_seed_and_epoch_and_not_on_history(window, limits):
    def tokens(data, made):
        return [
            [(e["id"], e["source"].tolist(), e["target"].tolist()) for e in data.__getitems__(b)]
            for b in made
        ]

    continued, resumed = (dataset(training=True, window=window, coword_dropout=0.2) for _ in range(2))
    epochs = {}
    for epoch in (1, 2, 3):
        continued.set_epoch(epoch)
        epochs[epoch] = tokens(continued, batches(continued, limits))
    resumed.set_epoch(3)
    assert tokens(resumed, batches(resumed, limits)) == epochs[3]
    assert epochs[1] != epochs[2] != epochs[3]
    resumed.set_epoch(1)
    assert tokens(resumed, batches(resumed, limits)) == epochs[1]


def test_evaluation_is_the_same_in_every_epoch():
    window = dict(K3, context_selection="random")
    data = dataset(window=window)
    first = [data[index]["source"].tolist() for index in range(43)]
    made = batches(data)
    data.set_epoch(7)
    assert [data[index]["source"].tolist() for index in range(43)] == first and batches(data) == made


def test_all_lines_are_like_an_array_of_their_numbers():
    lines, array = AllLines(9), np.arange(9)
    for places in (0, -1, slice(2, 7), slice(None), slice(-3, None), [3, -9, 8], np.array([], int)):
        assert np.array_equal(lines[places], array[places])
    assert np.array_equal(np.asarray(lines), array) and len(lines) == 9
    for places in (9, -10, [0, 9]):
        with pytest.raises(IndexError):
            lines[places]


# ---- limits


def test_shortened_windows_are_counted_and_reported(caplog):
    data, whole = dataset(), dataset()
    with caplog.at_level(logging.WARNING):
        kept, left_out = data.filter_indices_by_size(data.ordered_indices(), (20, 1024))
    longer = int((whole.sizes[:, 0] > 20).sum())
    assert longer and len(kept) == 43 and not left_out
    assert [text.startswith(f"split: {longer} of 43 windows") for text in caplog.messages] == [True]
    caplog.clear()
    kept, left_out = data.filter_indices_by_size(data.ordered_indices(), (1024, 1024))
    assert data.sizes.tolist() == whole.sizes.tolist() and not caplog.messages, "wider limits: whole windows"


@pytest.mark.parametrize("limits", [(6, 1024), (1024, 6), 6, (None, 6)])
def test_a_current_sentence_that_is_too_long_is_left_out(limits):
    data = dataset()
    kept, left_out = data.filter_indices_by_size(data.ordered_indices(), limits)
    source, target = (None, limits) if limits == 6 else limits
    if limits == 6:
        source = 6
    expected = (data.source.sizes > (source or 1024)) | (data.target.sizes > target)
    assert sorted(left_out) == np.flatnonzero(expected).tolist() and left_out
    assert sorted(kept) == np.flatnonzero(~expected).tolist()


def test_max_window_tokens_leaves_out_long_training_examples_by_their_whole_window():
    whole = dataset().sizes[:, 0]
    data = dataset(training=True, max_window_tokens=25)
    for limits in ((1024, 1024), (20, 1024)):
        kept, left_out = data.filter_indices_by_size(data.ordered_indices(), limits)
        assert sorted(left_out) == np.flatnonzero(whole > 25).tolist() and left_out
        assert sorted(kept) == np.flatnonzero(whole <= 25).tolist()
    data = dataset(max_window_tokens=25)
    assert not data.filter_indices_by_size(data.ordered_indices(), (1024, 1024))[1], "training only"


@pytest.mark.parametrize("context", [dict(K3), dict(K3, sample_context_size=True)])
@pytest.mark.parametrize("limits", [(60, None), (90, 8)])
def test_counting_current_tokens_gives_every_context_the_same_batches(context, limits):
    """The rows of a table see the same sentences in every update, whatever their context."""
    max_tokens, max_sentences = limits

    def epochs(**options):
        data = dataset((40, 25, 60), training=True, **options)
        for epoch in (1, 2):
            data.set_epoch(epoch)
            yield batches(data, max_tokens=max_tokens, max_sentences=max_sentences)

    alone = list(epochs(window={}))
    assert list(epochs(window=context, count_current_tokens=True)) == alone
    assert list(epochs(window={}, count_current_tokens=True)) == alone
    assert list(epochs(window=context)) != alone


@pytest.mark.parametrize("runs", [0, 8])
def test_rows_of_context_leave_batches_of_current_tokens_as_they_are(runs):
    def made(**options):
        data = rows_dataset(training=True, batch_runs=runs, count_current_tokens=True, **options)
        return batches(data, max_tokens=40)

    nothing = dict.fromkeys(("source_context", "source_context_after", "target_context_on_source"), 0)
    assert made() == made(**nothing, target_context=0)


def test_current_tokens_are_counted_in_training_only():
    data, whole = dataset(count_current_tokens=True), dataset()
    assert batches(data) == batches(whole)
    trained = dataset(training=True, count_current_tokens=True)
    assert trained.num_tokens(8) == max(len(trained.source[8]), len(trained.target[8])) < whole.num_tokens(8)
    with pytest.raises(BadInput, match="split: line .* expected a sentence of at most --max-tokens 5, found"):
        trained.batch_by_size(trained.ordered_indices(), max_tokens=5)
    with pytest.raises(BadInput, match="expected a window of"):
        whole.batch_by_size(whole.ordered_indices(), max_tokens=5)


def test_a_window_longer_than_a_batch_is_named():
    data = dataset()
    longest = int(data.sizes.max(1).argmax())
    with pytest.raises(BadInput, match=f"split: line {longest + 1}: expected .* --max-tokens 12, found"):
        data.batch_by_size(data.ordered_indices(), max_tokens=12)
    with pytest.raises(BadInput, match="split: no example is left"):
        data.batch_by_size(data.ordered_indices()[:0], max_tokens=12)


def test_torch_loads_batches_as_the_dataset_gives_them():
    data = dataset()
    made = batches(data)
    loader = torch.utils.data.DataLoader(data, collate_fn=data.collater, batch_sampler=made)
    for batch, indices in zip(loader, made, strict=True):
        assert torch.equal(batch["target"], data.collater([data[index] for index in indices])["target"])
