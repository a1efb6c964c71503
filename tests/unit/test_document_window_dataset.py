"""Windows as fairseq examples and batches."""

import logging

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary

from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.symbols import add_symbols
from ctxmt_fairseq.data.windows import ContextOptions, WindowBuilder
from ctxmt_fairseq.errors import BadInput

VOCABULARY = Dictionary()
for number in range(500):
    VOCABULARY.add_symbol(f"w{number}")
add_symbols(VOCABULARY)
EOS, PAD, SEP, MASK = (
    VOCABULARY.eos(),
    VOCABULARY.pad(),
    VOCABULARY.index("<sep>"),
    VOCABULARY.index("<mask>"),
)
K3 = dict(source_context=3, source_context_after=1, target_context=2)


class Sentences(list):
    """Token tensors in memory with fairseq's ``sizes``."""

    @property
    def sizes(self):
        return np.array([len(sentence) for sentence in self], np.int32)


def sentences(n, first, longest=9):
    """n sentences of 0 to ``longest`` words from ``first`` on, each ending with </s>."""
    rng = np.random.default_rng((n, first))
    words = [rng.integers(first, first + 200, rng.integers(0, longest + 1)) for _ in range(n)]
    return Sentences(torch.tensor([*row.tolist(), EOS]) for row in words)


def dataset(lengths=(9, 1, 14, 2, 17), training=False, target=True, seed=1, window=K3, longest=9, **kwargs):
    n = sum(lengths)
    builder = WindowBuilder(Documents.from_lengths(lengths), ContextOptions(**window), seed)
    return DocumentWindowDataset(
        sentences(n, 4, longest), VOCABULARY, sentences(n, 210, longest) if target else None, VOCABULARY,
        builder, training=training, seed=seed, name="split", **kwargs,
    )  # fmt: skip


def joined(parts):
    """Plain lists: every </s> but the last becomes the separator."""
    return [token for part in parts[:-1] for token in part[:-1] + [SEP]] + parts[-1]


def batches(data, limits=(1024, 1024), max_tokens=80, max_sentences=None, multiple=8):
    """Batches the way fairseq's task makes them."""
    indices, _ = data.filter_indices_by_size(data.ordered_indices(), limits)
    return [list(map(int, b)) for b in data.batch_by_size(indices, max_tokens, max_sentences, multiple)]


# ---- examples


def test_windows_are_joined_with_separators():
    data = dataset((3, 4))
    x, y = ([sentence.tolist() for sentence in side] for side in (data.source, data.target))
    middle, last, alone = data[5], data[6], data[3]
    assert middle["id"] == 5 and middle["current_segment"] == middle["target_context_sizes"] == 2
    assert middle["source"].tolist() == joined([x[3], x[4], x[5], x[6]])
    assert middle["target"].tolist() == joined([y[3], y[4], y[5]])
    assert last["source"].tolist() == joined([x[3], x[4], x[5], x[6]]) and last["current_segment"] == 3
    assert last["target"].tolist() == joined([y[4], y[5], y[6]])
    assert alone["source"].tolist() == joined([x[3], x[4]]) and alone["current_segment"] == 0
    assert alone["target"].tolist() == y[3] and alone["source"].dtype == alone["target"].dtype == torch.int64


@pytest.mark.parametrize(
    "selection, expected, segment",
    [
        ("document", lambda x, y: [y[1], x[0], x[1], x[2], x[3]], 3),
        ("swapped", lambda x, y: [x[2], y[1], x[0], x[1], x[3]], 0),
        ("empty", lambda x, y: [[EOS], [EOS], [EOS], x[2], [EOS]], 3),
        ("absent", lambda x, y: [x[2]], 0),
        ("reference", lambda x, y: [y[2], x[2]], 1),
    ],
)
def test_each_selection_builds_its_source_window(selection, expected, segment):
    window = dict(source_context=2, source_context_after=1, target_context_on_source=1)
    data = dataset((4, 3), window=dict(window, context_selection=selection))
    x, y = ([sentence.tolist() for sentence in side] for side in (data.source, data.target))
    assert data[2]["source"].tolist() == joined(expected(x, y))
    assert data[2]["current_segment"] == segment


def test_building_windows_leaves_the_sentences_as_they_are():
    data = dataset(training=True, coword_dropout=0.5)
    before = [sentence.clone() for sentence in [*data.source, *data.target]]
    data.collater(data.__getitems__(range(len(data))))
    for sentence, copy in zip([*data.source, *data.target], before, strict=True):
        assert torch.equal(sentence, copy)


WINDOWS = [
    dict(K3, context_selection=selection, target_context_on_source=1, sample_context_size=sampled)
    for selection in ("document", "random", "empty", "absent", "reference", "swapped")
    for sampled in (False, True)
]


@pytest.mark.parametrize(
    "window", WINDOWS, ids=lambda w: f"{w['context_selection']}-{w['sample_context_size']}"
)
@pytest.mark.parametrize("limits", [(1024, 1024), (20, 15)])
def test_sizes_are_those_of_the_windows_really_built(window, limits):
    data = dataset(training=True, window=window)
    data.set_epoch(2)
    data.filter_indices_by_size(data.ordered_indices(), limits)
    for index, example in enumerate(data.__getitems__(range(len(data)))):
        length = len(example["source"]), len(example["target"])
        assert data.size(index) == length == tuple(data.sizes[index])
        assert data.num_tokens(index) == max(length) == data.num_tokens_vec(np.array([index]))[0]
        assert length[0] <= limits[0] and length[1] <= limits[1], "all current sentences are short enough"
        one = data[index]
        assert torch.equal(one["source"], example["source"]) and torch.equal(one["target"], example["target"])


def test_only_marked_lines_are_examples_and_the_others_their_context():
    data = dataset((4, 3), current=np.array([2, 5]))
    whole = dataset((4, 3))
    assert len(data) == 2 and data.sizes.tolist() == whole.sizes[[2, 5]].tolist()
    for index, line in enumerate((2, 5)):
        assert data[index]["id"] == line
        assert torch.equal(data[index]["source"], whole[line]["source"])


def test_without_target_text_the_context_to_decode_is_counted():
    data, known = dataset(target=False), dataset()
    for index in range(len(data)):
        assert data[index]["target"] is None
        assert data[index]["target_context_sizes"] == known[index]["target_context_sizes"]
    batch = data.collater([data[3], data[8]])
    assert batch["target"] is None and "prev_output_tokens" not in batch["net_input"]
    for window in (dict(target_context_on_source=1), dict(source_context=1, context_selection="reference")):
        with pytest.raises(BadInput, match="split: expected target sentences"):
            dataset(target=False, window=window)


# ---- CoWord dropout


def masked(data, lines):
    """Positions (line, place) of masks, checked to lie in the current sentence."""
    found = set()
    for line in lines:
        example = data[line]
        parts = [[]]
        for token in example["source"].tolist():
            parts[-1].append(token)
            if token == SEP:
                parts.append([])
        for place, part in enumerate(parts):
            assert MASK not in part or place == example["current_segment"]
        current = parts[example["current_segment"]]
        original = data.source[line].tolist()
        assert len(current) == len(original)
        assert all(a in (b, MASK) for a, b in zip(current[:-1], original[:-1], strict=True))
        assert current[-1] in (SEP, EOS)
        assert MASK not in example["target"].tolist()
        found |= {(line, place) for place, token in enumerate(current) if token == MASK}
    return found


def test_coword_dropout_masks_current_source_words_at_its_rate():
    lengths = (500,)
    data = dataset(lengths, training=True, coword_dropout=0.2)
    words = int((data.source.sizes - 1).sum())
    assert abs(len(masked(data, range(500))) / words - 0.2) < 4 * (0.16 / words) ** 0.5


def test_coword_dropout_depends_on_seed_epoch_and_line_alone():
    def drawn(seed, epochs, lines, order=1):
        data = dataset((60,), training=True, coword_dropout=0.3, seed=seed)
        for epoch in epochs:
            data.set_epoch(epoch)
        return masked(data, list(lines)[::order])

    once = drawn(1, [3], range(60))
    assert once == drawn(1, [1, 2, 3], range(60), order=-1)
    assert {m for m in once if m[0] >= 30} == drawn(1, [3], range(30, 60))
    assert once != drawn(1, [2], range(60)) and once != drawn(2, [3], range(60))


def test_coword_dropout_is_for_training_only():
    assert not masked(dataset(coword_dropout=0.9), range(43))


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


def test_a_window_longer_than_a_batch_is_named():
    data = dataset()
    longest = int(data.sizes.max(1).argmax())
    with pytest.raises(BadInput, match=f"split: line {longest + 1}: expected .* --max-tokens 12, found"):
        data.batch_by_size(data.ordered_indices(), max_tokens=12)
    with pytest.raises(BadInput, match="split: no example is left"):
        data.batch_by_size(data.ordered_indices()[:0], max_tokens=12)


# ---- collation


def test_no_samples_give_no_batch():
    assert dataset().collater([]) == {}


def test_every_key_of_a_batch_follows_the_order_of_its_rows():
    data = dataset(context_inputs=("current_segment", "target_context_sizes"))
    lines = [0, 1, 2, 3, 9, 11, 30, 12]
    batch = data.collater([data[line] for line in lines])
    assert set(batch) == {"id", "nsentences", "ntokens", "net_input", "target", "windows"}
    net_input = batch["net_input"]
    assert sorted(batch["id"].tolist()) == sorted(lines) and batch["id"].tolist() != lines
    assert batch["nsentences"] == 8
    for row, line in enumerate(batch["id"].tolist()):
        example = data[line]
        source, target = example["source"].tolist(), example["target"].tolist()
        width, target_width = net_input["src_tokens"].shape[1], batch["target"].shape[1]
        assert net_input["src_tokens"][row].tolist() == [PAD] * (width - len(source)) + source
        assert net_input["src_lengths"][row] == len(source)
        padding = [PAD] * (target_width - len(target))
        assert batch["target"][row].tolist() == target + padding
        assert net_input["prev_output_tokens"][row].tolist() == [EOS] + target[:-1] + padding
        for name in ("current_segment", "target_context_sizes"):
            assert batch["windows"][name][row] == net_input[name][row] == example[name]
    assert batch["ntokens"] == sum(len(data[line]["target"]) for line in lines)
    assert set(dataset().collater([data[0]])["net_input"]) == {
        "src_tokens",
        "src_lengths",
        "prev_output_tokens",
    }


def test_torch_loads_batches_as_the_dataset_gives_them():
    data = dataset()
    made = batches(data)
    loader = torch.utils.data.DataLoader(data, collate_fn=data.collater, batch_sampler=made)
    for batch, indices in zip(loader, made, strict=True):
        assert torch.equal(batch["target"], data.collater([data[index] for index in indices])["target"])
