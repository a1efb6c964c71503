"""Windows packed by a budget of tokens: which context is taken, in training and translation alike."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import WindowOptions
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments
from tests.helpers.window_datasets import VOCABULARY, dataset, joined

WINDOWS = [
    dict(source_context=6),
    dict(source_context=3, source_context_after=2),
    dict(target_context=6),
    dict(source_context=4, target_context=4),
    dict(source_context=2, target_context=5, source_context_after=1),
    dict(source_context=3, target_context_on_source=2),
]


def packed(data, index, window, budget):
    """The windows by definition: from the nearest on, all that is so far away, or nothing from there on."""
    starts, ends = data.builder.documents.bounds(np.array([index]))
    source, target = (
        [sentences[line].tolist() for line in range(len(data))] for sentences in (data.source, data.target)
    )
    size = {name: window.get(name, 0) for name in (
        "source_context", "source_context_after", "target_context", "target_context_on_source")}  # fmt: skip
    taken = {name: [] for name in size}
    for distance in range(1, 7):
        more = {}
        for name, count in size.items():
            line = index + distance * (1 if name.endswith("after") else -1)
            there = distance <= count and starts[0] <= line < ends[0]
            texts = target if name.startswith("target") else source
            more[name] = [texts[line]] if there else []
        after = {name: taken[name] + more[name] for name in size}
        on_source = sum(len(text) for name in size if name != "target_context" for text in after[name])
        on_target = sum(map(len, after["target_context"]))
        if len(source[index]) + on_source > budget or on_target > budget:
            break
        taken = after
    before = [*taken["target_context_on_source"][::-1], *taken["source_context"][::-1]]
    window = joined([*before, source[index], *taken["source_context_after"]])
    return window, joined([*taken["target_context"][::-1], target[index]])


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: "-".join(map(str, window.values())))
@pytest.mark.parametrize("budget", [1, 9, 15, 30, 1000])
def test_context_is_taken_while_the_window_stays_within_the_budget(window, budget):
    data = dataset(window={**window, "window_tokens": budget}, training=True)
    for index, example in enumerate(data.__getitems__(range(len(data)))):
        expected = packed(data, index, window, budget)
        assert (example["source"].tolist(), example["target"].tolist()) == expected
        assert data.size(index) == tuple(map(len, expected))
        assert example["target_first"] == len(expected[1]) - len(data.target[index])
    whole = dataset(window=window, training=True)
    assert budget < 1000 or all(torch.equal(data[i]["source"], whole[i]["source"]) for i in range(len(data)))


def test_a_models_limits_count_besides(caplog):
    window = dict(source_context=6, target_context=6, window_tokens=25)
    data = dataset(window=window)
    data.filter_indices_by_size(data.ordered_indices(), (25, 1024))
    assert not caplog.records  # no window is longer, so none is shortened
    data.filter_indices_by_size(data.ordered_indices(), (15, 1024))
    assert "their farthest context is left out" in caplog.text and data.window_sizes.source.max() <= 15


def test_long_inputs_are_those_of_packed_windows():
    """--max-sentence-tokens sees what the encoder reads."""
    window = dict(source_context=6, window_tokens=10)
    data = dataset(window={**window, "max_sentence_tokens": 2}, training=True)  # 7 * 2 tokens
    assert data.filter_indices_by_size(np.arange(len(data)), (1024, 1024))[1] == []


@pytest.mark.parametrize("window", WINDOWS[:4], ids=lambda window: "-".join(map(str, window.values())))
def test_translation_reads_the_windows_of_training(window):
    """With the references as translations so far."""
    window = {**window, "window_tokens": 20}
    data = dataset(window=window, training=True)

    def build(name, sources, targets, documents, **more):
        made = dataset(window=window)
        made.source, made.target = sources, targets
        return made

    task = SimpleNamespace(
        target_start=torch.tensor([], dtype=torch.long), target_dictionary=VOCABULARY, build_dataset=build
    )
    running = RunningDocuments(task, list(data.source), data.builder.documents, list(data.target))
    for line in range(len(data)):
        batch, prefixes = running.batch([line], True)
        example = data[line]
        assert batch["net_input"]["src_tokens"][0].tolist() == example["source"].tolist()
        assert prefixes[0].tolist() == example["target"][: example["target_first"]].tolist()


def test_a_budget_is_a_number_of_tokens_that_travels_with_the_model():
    assert (
        WindowOptions.travelling()["window_tokens"] == 0
        and WindowOptions(window_tokens=250).evaluated().window_tokens == 250
    )
    with pytest.raises(BadInput, match="--window-tokens -1: expected a number of tokens, or 0"):
        WindowOptions(window_tokens=-1)


def test_translations_stand_behind_what_targets_begin_with():
    """Also those that an interrupted translation has kept; a given target sentence stays."""
    data = dataset(window=dict(target_context=1))
    task = SimpleNamespace(
        target_start=torch.tensor([9]),
        target_dictionary=VOCABULARY,
        build_dataset=lambda *given, **more: data,
    )
    end = VOCABULARY.eos()
    given = [torch.tensor([9, 7, end])] + [torch.tensor([], dtype=torch.long)] * (len(data) - 1)
    running = RunningDocuments(task, list(data.source), data.builder.documents, given)
    for line, words in enumerate(([8, end], [8, end], [end])):
        running.record_translation(line, torch.tensor(words))
    assert [running.targets[line].tolist() for line in range(3)] == [[9, 7, end], [9, 8, end], [end]]
