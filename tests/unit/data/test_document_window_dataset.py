"""Windows as fairseq examples, and their collation."""

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import target_weights
from tests.helpers.window_datasets import EOS, K3, MASK, PAD, SEP, dataset, joined, requesting


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
@pytest.mark.parametrize("separators", [True, False])
def test_sizes_are_those_of_the_windows_really_built(window, limits, separators):
    data = dataset(training=True, window=window, separators=separators)
    data.set_epoch(2)
    data.filter_indices_by_size(data.ordered_indices(), limits)
    for index, example in enumerate(data.__getitems__(range(len(data)))):
        length = len(example["source"]), len(example["target"])
        assert data.size(index) == length == tuple(data.sizes[index])
        assert data.num_tokens(index) == max(length) == data.num_tokens_vec(np.array([index]))[0]
        assert length[0] <= limits[0] and length[1] <= limits[1], "all current sentences are short enough"
        one = data[index]
        assert torch.equal(one["source"], example["source"]) and torch.equal(one["target"], example["target"])


@pytest.mark.parametrize("separators", [True, False])
@pytest.mark.parametrize("window", WINDOWS[::2], ids=lambda w: w["context_selection"])
def test_the_span_of_the_current_sentence(window, separators):
    """Its words, and the symbol that ends it; without separators that is the window's </s> or nothing."""
    data = dataset(training=True, window=window, separators=separators)
    for line in range(len(data)):
        example = data[line]
        first, end = example["current_span"]
        tokens, words = example["source"].tolist(), data.source[line].tolist()[:-1]
        closing = tokens[first:end][len(words) :]
        assert tokens[first:end][: len(words)] == words
        assert closing == ([tokens[-1]] if end == len(tokens) else [SEP] if separators else [])
        if separators:
            assert tokens[:first].count(SEP) == example["current_segment"]
        else:
            assert SEP not in tokens and tokens.count(EOS) == 1 and tokens[-1] == EOS
        again = data.restored(line, data.visible(example))
        assert torch.equal(again["source"], example["source"]) and again["current_span"] == (first, end)


def test_without_separators_the_words_stand_side_by_side():
    data = dataset((3, 4), separators=False)
    x, y = ([sentence.tolist() for sentence in side] for side in (data.source, data.target))
    assert data[5]["source"].tolist() == [*x[3][:-1], *x[4][:-1], *x[5][:-1], *x[6]]
    assert data[5]["target"].tolist() == joined([y[3], y[4], y[5]]), "on the source side only"


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
        with pytest.raises(BadInput, match="split needs target sentences"):
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


# ---- collation


def test_no_samples_give_no_batch():
    assert dataset().collater([]) == {}
    assert dataset().__getitems__([]) == []  # what torch asks for when a worker has run out of batches


def test_every_key_of_a_batch_follows_the_order_of_its_rows():
    data = dataset(request=requesting("window"))
    lines = [0, 1, 2, 3, 9, 11, 30, 12]
    batch = data.collater([data[line] for line in lines])
    assert set(batch) == {"id", "nsentences", "ntokens", "net_input", "target", "parts", "windows"}
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
        parts = batch["parts"]
        assert parts.lines[row] == line and parts.current[row].tolist() == data.source[line].tolist()
        assert parts.lengths[row] == len(source) and parts.sentences[row] == example["target_context_sizes"]
        first, end = example["current_span"]
        assert parts.source[row].tolist() == [first, end - first, len(source) - end]
        assert parts.target[row].tolist() == [
            len(target) - len(data.target[line]), len(data.target[line]), 0
        ]  # fmt: skip
        for name in ("current_segment", "target_context_sizes"):
            assert batch["windows"][name][row] == net_input["context"][name][row] == example[name]
        assert tuple(batch["windows"]["current_span"][row].tolist()) == example["current_span"]
    assert batch["ntokens"] == sum(len(data[line]["target"]) for line in lines)
    assert set(dataset().collater([data[0]])["net_input"]) == {
        "src_tokens",
        "src_lengths",
        "prev_output_tokens",
    }


@pytest.mark.parametrize(
    "before, target_before, separators", [(2, 2, True), (0, 1, True), (1, 0, True), (2, 0, False)]
)
def test_windows_whose_context_ends_with_eos(before, target_before, separators):
    """Those of the program of Fernandes et al. (2021): [c1 <sep> c2] </s> x </s>, on both sides, with </s>
    alone where there is no context. The decoder reads </s> before all of it."""
    options = {"source_context": before, "target_context": target_before}
    windows = dataset((1, 3), window=options, context_end="eos", separators=separators)
    batch = windows.collater([windows[line] for line in range(4)])
    texts = ("source", before, windows.source), ("target", target_before, windows.target)
    for row, line in enumerate(batch["id"].tolist()):
        start = 0 if line == 0 else 1
        sides = {}
        for side, size, text in texts:
            context = [text[at].tolist() for at in range(max(start, line - size), line)]
            if not separators:  # one sentence, as it were
                context = [sum((sentence[:-1] for sentence in context), []) + [EOS]]
            sides[side] = (joined(context) if context else [EOS]), text[line].tolist()
        example = windows[line]
        assert example["source"].tolist() == sum(sides["source"], [])
        assert example["target"].tolist() == sum(sides["target"], [])
        first = len(sides["source"][0])
        assert example["current_span"] == (first, first + len(sides["source"][1]))
        assert example["target_first"] == len(sides["target"][0])
        previous = batch["net_input"]["prev_output_tokens"][row]
        assert previous[previous != PAD].tolist() == [EOS, *example["target"].tolist()[:-1]]
        weights = target_weights(batch["target"], SEP, PAD, 0.0, EOS)[row]
        assert weights.sum() == len(sides["target"][1]) and not weights[: example["target_first"]].any()
    assert (windows.window_sizes.source >= [len(windows[line]["source"]) for line in range(4)]).all()
