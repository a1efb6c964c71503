"""Examples that are seen several times in an epoch: how often, in which order, and in whole documents."""

import numpy as np
import pytest

from ctxmt_fairseq.data.context_options import times_by_tag
from ctxmt_fairseq.data.repetition import Repetition
from tests.helpers.multi_source_models import dataset as rows_dataset
from tests.helpers.window_datasets import K3, dataset

TIMES = np.tile([1.0, 3.0, 1.0, 2.5, 1.0], 9)[:43]


def counted(lines, n=43):
    return np.bincount(lines, minlength=n).tolist()


def test_how_often_an_example_is_seen():
    lines = np.array([1, 3, 4, 8])
    made = Repetition(lines, np.array([1, 3, 2.25, 1.0]), seed=1)
    epochs = [made.of(epoch) for epoch in range(1, 2001)]
    for found in epochs:
        assert sorted(found) == found.tolist()
        one, three, some, last = np.bincount(found, minlength=9)[lines]
        assert (one, three, last) == (1, 3, 1) and some in (2, 3)
    assert np.mean([np.bincount(found)[4] for found in epochs]) == pytest.approx(2.25, abs=0.04)
    assert made.depends_on_epoch and not Repetition(lines, np.ones(4), 1).depends_on_epoch
    other = [Repetition(lines, made.whole + made.rest, seed=2).of(epoch) for epoch in range(1, 20)]
    assert [found.tolist() for found in other] != [found.tolist() for found in epochs[:19]]


def batches(data, max_tokens):
    indices, _ = data.filter_indices_by_size(data.ordered_indices(), (1024, 1024))
    return data.batch_by_size(indices, max_tokens)


def seen(data, max_tokens=300):
    """The examples of an epoch, batch by batch, with all that they hold but what names them."""
    return [
        [(each["id"], each["source"].tolist(), each["target"].tolist()) for each in data.__getitems__(batch)]
        for batch in batches(data, max_tokens)
    ]


MADE = {
    "windows": lambda: dataset(
        training=True, window=dict(K3, sample_context_size=True), coword_dropout=0.2, times=TIMES
    ),
    "rows": lambda: rows_dataset(training=True, times=TIMES),
    "runs": lambda: rows_dataset(training=True, times=TIMES, batch_runs=4),
}


@pytest.mark.parametrize("kind", MADE)
def test_an_epoch_depends_on_nothing_but_seed_and_epoch(kind):
    """A training that is resumed in epoch 3 sees what an uninterrupted one sees there, in its order."""
    continued, resumed = MADE[kind](), MADE[kind]()
    epochs = {}
    for epoch in (1, 2, 3):
        continued.set_epoch(epoch)
        epochs[epoch] = seen(continued)
        times = counted([line for batch in epochs[epoch] for line, *_ in batch])
        expected = continued.repetition.of(epoch)
        assert times == counted(expected) and len(continued) == len(expected)
        assert times[1] == 3 and times[0] == 1 and times[3] in (2, 3)
    resumed.set_epoch(3)
    assert seen(resumed) == epochs[3]
    assert len({str(epoch) for epoch in epochs.values()}) == 3


def test_documents_stay_whole():
    """A repeated example has the same window as without repetition."""
    plain, repeated = dataset(training=True), dataset(training=True, times=TIMES)
    windows = {line: window for batch in seen(plain) for line, *window in batch}
    assert len(windows) == 43
    for batch in seen(repeated):
        for line, *window in batch:
            assert window == windows[line]


def test_only_current_lines_are_repeated():
    current = np.array([1, 2, 5, 6, 40])
    data = dataset(training=True, current=current, times=TIMES)
    assert {*data.lines.tolist()} == {*current.tolist()} and counted(data.lines)[1] == 3


def test_a_batch_with_an_example_twice_is_the_batch_of_both():
    data = rows_dataset(training=True, times=TIMES, batch_runs=4)
    twice = [at for at, line in enumerate(data.lines.tolist()) if line == 1][:2]
    batch = data.collater(data.__getitems__([*twice, 0]))
    rows = [row for row, line in enumerate(batch["id"].tolist()) if line == 1]
    for name in ("target",):
        assert batch[name][rows[0]].tolist() == batch[name][rows[1]].tolist()
    assert len(rows) == 2 and len(batch["id"]) == 3
    index = batch["windows"]["index"]
    assert index[rows[0]].tolist() == index[rows[1]].tolist()


@pytest.mark.parametrize(
    "text", ["", "a", "a=", "a=0.5", "a=101", "a=2,", "=2", "a=2 ", "a=1e1", "a=2,a b=3"]
)
def test_what_is_no_upsampling(text):
    assert times_by_tag(text) == {}


def test_upsampling_by_tags():
    assert times_by_tag("pronoun=3,t/v=1.5") == {"pronoun": 3, "t/v": 1.5}
    assert times_by_tag("pronoun=0.5,t/v=1000", 0, 1000) == {"pronoun": 0.5, "t/v": 1000}
    assert times_by_tag("pronoun=1001", 0, 1000) == {}
