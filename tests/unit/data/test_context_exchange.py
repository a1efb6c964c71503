"""Exchanged contexts against batches that are put together from the text."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.data.data_utils import collate_tokens
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.data.context_exchange import (
    WindowFormat,
    derangement,
    exchange_rows,
    exchange_windows,
    window_formats,
)
from ctxmt_fairseq.data.context_sizes import WindowParts
from tests.helpers.window_datasets import EOS, PAD, SEP, VOCABULARY, dataset, joined

# ---- derangements


@given(st.integers(2, 60), st.integers(0, 10**6))
def test_a_derangement_is_one_cycle_through_all_rows(size, seed):
    order = derangement(size, torch.Generator().manual_seed(seed)).tolist()
    visited, row = set(), 0
    while row not in visited:
        visited.add(row)
        row = order[row]
    assert visited == set(range(size)), "so no row is its own"


def test_every_cycle_is_as_likely():
    generator = torch.Generator().manual_seed(1)
    counts = {}
    for _ in range(6000):
        order = tuple(derangement(4, generator).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6  # (4 - 1)!
    assert all(abs(count - 1000) < 4 * 1000**0.5 for count in counts.values())


def test_few_rows_have_nothing_to_exchange_and_the_global_generator_serves():
    assert derangement(0) is None and derangement(1) is None
    torch.manual_seed(3)
    first = derangement(50)
    torch.manual_seed(3)
    assert torch.equal(first, derangement(50)) and first.dtype == torch.int64


@given(st.lists(st.integers(0, 8), max_size=20), st.integers(0, 10**6))
def test_copies_of_a_line_are_not_its_random_context(lines, seed):
    torch.manual_seed(seed)
    order = derangement(len(lines), lines=np.array(lines, np.int64))
    if order is None:
        assert len(lines) < 2 * max(map(lines.count, lines), default=1)
        return
    assert sorted(order.tolist()) == list(range(len(lines)))
    assert all(lines[row] != lines[other] for row, other in enumerate(order.tolist()))
    if len(set(lines)) == len(lines):
        torch.manual_seed(seed)
        assert torch.equal(order, derangement(len(lines)))


# ---- windows, against text

SENTENCE = st.lists(st.integers(4, 9), max_size=4).map(lambda words: [*words, EOS])
CONTEXT = st.lists(SENTENCE, max_size=3)
EXAMPLES = st.lists(
    st.fixed_dictionaries(
        {
            "before": CONTEXT,
            "source": SENTENCE,
            "after": CONTEXT,
            "target_before": CONTEXT,
            "target": SENTENCE,
        }
    ),
    min_size=2,
    max_size=5,
)


def source_window(current, context, form):
    parts = context["before"] + [current["source"]] + context["after"]
    if form.separator is None:
        return [token for part in parts[:-1] for token in part[:-1]] + parts[-1]
    return joined(parts)


def source_span(current, context, form):
    """Where the current sentence stands; without separators </s> is the last sentence's."""
    mark = 0 if form.separator is None else 1
    first = sum(len(part) - 1 + mark for part in context["before"])
    return first, first + len(current["source"]) - (1 - mark if context["after"] else 0)


def target_window(current, context, form):
    return joined(context["target_before"] + [current["target"]])


def padded(windows, form, **more):
    values = [torch.tensor(window) for window in windows]
    return collate_tokens(values, PAD, EOS, form.left_pad, pad_to_multiple=form.pad_to_multiple, **more)


def batch(currents, contexts, source, target):
    """The batch in which each current sentence has the context beside it."""
    pairs = list(zip(currents, contexts, strict=True))
    sources = [source_window(*pair, source) for pair in pairs]
    targets = [target_window(*pair, target) for pair in pairs]
    spans = torch.tensor([source_span(*pair, source) for pair in pairs])
    segments = torch.tensor([len(context["before"]) for context in contexts])
    made = {
        "id": torch.arange(len(pairs)),
        "nsentences": len(pairs),
        "ntokens": sum(map(len, targets)),
        "net_input": {
            "src_tokens": padded(sources, source),
            "src_lengths": torch.tensor([len(window) for window in sources]),
            "prev_output_tokens": padded(targets, target, move_eos_to_beginning=True),
            "context": {},
        },
        "target": padded(targets, target),
        "windows": {
            "current_segment": segments,
            "current_span": spans,
            "target_context_sizes": torch.tensor([len(context["target_before"]) for context in contexts]),
        },
        "parts": WindowParts(
            np.arange(len(pairs)),
            np.array([], np.int64),
            np.array([], np.int64),
            np.array(list(map(len, sources))),
            np.array([len(context["target_before"]) for context in contexts]),
            parts(sources, spans.tolist()),
            parts(targets, [target_span(*pair) for pair in pairs]),
        ),
    }
    made["net_input"]["context"] = made["windows"]
    return made


def target_span(current, context):
    first = sum(map(len, context["target_before"]))
    return first, first + len(current["target"])


def parts(windows, spans):
    return np.array(
        [(first, end - first, len(window) - end) for window, (first, end) in zip(windows, spans, strict=True)]
    )


def assert_same(left, right):
    assert type(left) is type(right)
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for name in left:
            assert_same(left[name], right[name])
    elif torch.is_tensor(left):
        assert left.dtype == right.dtype and left.tolist() == right.tolist()
    elif isinstance(left, WindowParts):
        for name in ("lines", "lengths", "sentences", "source", "target"):
            assert getattr(left, name).tolist() == getattr(right, name).tolist()
    else:
        assert left == right


FORMATS = st.builds(
    WindowFormat, st.just(SEP), st.just(PAD), st.just(EOS), st.booleans(), st.sampled_from([1, 4])
)
NO_SEPARATOR = st.builds(
    WindowFormat, st.none(), st.just(PAD), st.just(EOS), st.booleans(), st.sampled_from([1, 4])
)


@given(EXAMPLES, st.integers(0, 1000), st.one_of(FORMATS, NO_SEPARATOR), FORMATS)
def test_exchanged_windows_are_those_built_from_text(examples, seed, source, target):
    order = derangement(len(examples), torch.Generator().manual_seed(seed))
    sample = batch(examples, examples, source, target)
    others = [examples[other] for other in order.tolist()]
    assert_same(exchange_windows(sample, order, source, target), batch(examples, others, source, target))
    assert_same(sample, batch(examples, examples, source, target))  # untouched


@given(EXAMPLES, st.integers(1, 20), st.integers(1, 20), st.booleans(), st.sampled_from([SEP, None]))
def test_a_context_that_does_not_fit_the_model_is_left_out(examples, max_source, max_target, left, separator):
    none = {"before": [], "after": [], "target_before": []}
    order = derangement(len(examples), torch.Generator().manual_seed(0))
    source = WindowFormat(separator, PAD, EOS, left, max_tokens=max_source)
    target = WindowFormat(SEP, PAD, EOS, max_tokens=max_target)
    expected = []
    for current, other in zip(examples, order.tolist(), strict=True):
        context = dict(examples[other])
        if len(source_window(current, context, source)) > max_source:
            context.update(before=[], after=[])
        if len(target_window(current, context, target)) > max_target:
            context.update(target_before=[])
        expected.append({**none, **context})
    sample = batch(examples, examples, source, target)
    assert_same(exchange_windows(sample, order, source, target), batch(examples, expected, source, target))


@pytest.mark.parametrize("separators", [True, False])
def test_formats_are_those_of_the_task_and_fit_its_dataset(separators):
    cfg = SimpleNamespace(
        left_pad_source=True,
        left_pad_target=False,
        required_seq_len_multiple=8,
        max_source_positions=90,
        max_target_positions=80,
    )
    source, target = window_formats(cfg, VOCABULARY, VOCABULARY)
    assert source == WindowFormat(SEP, PAD, EOS, True, 8, 90)
    assert target == WindowFormat(SEP, PAD, EOS, False, 8, 80)

    source = source if separators else replace(source, separator=None)
    window = dict(source_context=2, source_context_after=1, target_context=2)
    data = dataset(window=window, training=True, pad_to_multiple=8, separators=separators)
    sample = data.collater([data[line] for line in (0, 4, 9, 12, 30)])
    order = derangement(5, torch.Generator().manual_seed(1))
    exchanged = exchange_windows(sample, order, source, target)
    back = exchange_windows(exchanged, order.argsort(), source, target)
    assert not torch.equal(exchanged["windows"]["current_segment"], sample["windows"]["current_segment"])
    for part in ("net_input", "windows"):
        assert_same(back[part], sample[part])
    assert torch.equal(back["target"], sample["target"]) and back["ntokens"] == sample["ntokens"]


# ---- rows

TARGET = WindowFormat(SEP, PAD, EOS)
ROWS = [
    {"before": [], "source": [4, EOS], "after": [], "target_before": [[5, EOS]], "target": [6, 7, EOS]},
    {"before": [], "source": [8, EOS], "after": [], "target_before": [], "target": [9, EOS]},
    {
        "before": [],
        "source": [4, EOS],
        "after": [],
        "target_before": [[4, EOS], [5, 6, EOS]],
        "target": [EOS],
    },
]
ORDER = torch.tensor([2, 0, 1])


@pytest.fixture
def rows():
    return batch(ROWS, ROWS, TARGET, TARGET)


def test_rows_take_each_others_context_and_target_window(rows):
    tokens, distances = torch.randint(4, 9, (3, 2, 5)), torch.tensor([[1, 2], [1, -1], [2, 1]])
    rows["windows"].update(vectors=tokens, distances=distances)
    rows["net_input"]["context"] = rows["windows"]
    exchanged = exchange_rows(rows, ORDER, TARGET)
    for part in (exchanged["net_input"]["context"], exchanged["windows"]):
        assert torch.equal(part["vectors"], tokens[ORDER])
    assert torch.equal(exchanged["windows"]["distances"], distances[ORDER])
    expected = batch(ROWS, [ROWS[other] for other in ORDER], TARGET, TARGET)
    assert torch.equal(exchanged["target"], expected["target"])
    assert torch.equal(
        exchanged["windows"]["target_context_sizes"], expected["windows"]["target_context_sizes"]
    )
    for name in ("src_tokens", "src_lengths", "prev_output_tokens"):
        assert torch.equal(exchanged["net_input"][name], expected["net_input"][name])
    assert torch.equal(rows["windows"]["vectors"], tokens), "untouched"


def test_distinct_sentences_stay_and_what_points_to_them_is_exchanged(rows):
    # as many distinct sentences as rows: the number alone does not tell them apart
    inputs = {
        "tokens": torch.randint(4, 9, (3, 5)),
        "reused": torch.tensor([-1, 0, 2]),
        "index": torch.tensor([[0, 1], [2, -1], [-1, -1]]),
        "distances": torch.tensor([[2, 1], [2, 1], [1, 2]]),
        "roles": torch.tensor([[0, 1], [1, 1], [2, 2]]),
    }
    rows["windows"].update(inputs)
    rows["net_input"]["context"] = rows["windows"]
    exchanged = exchange_rows(rows, ORDER, TARGET)
    for part in (exchanged["net_input"]["context"], exchanged["windows"]):
        for name, value in inputs.items():
            stays = name in ("tokens", "reused")
            assert torch.equal(part[name], value if stays else value[ORDER])
