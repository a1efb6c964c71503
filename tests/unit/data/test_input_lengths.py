"""--max-sentence-tokens: which training examples have an input that is too long."""

import numpy as np
import pytest
import torch

from ctxmt_fairseq.data.context_options import SELECTIONS
from ctxmt_fairseq.data.window_sizes import WindowSizes
from ctxmt_fairseq.text.absence import NO_SENTENCE
from tests.helpers import window_datasets
from tests.helpers.multi_source_models import dataset as rows_dataset

LIMIT = 6
CONTEXT = dict(source_context=2, source_context_after=1, target_context_on_source=1, target_context=1)


def left_out(data):
    return data.filter_indices_by_size(data.ordered_indices(), (1024, 1024))[1]


def check(options, expected):
    """``options`` make a dataset; ``expected`` says of an example whether it is too long."""
    data, whole = options(max_sentence_tokens=LIMIT), options()
    for epoch in (1, 3):  # random context is other context then
        for each in (data, whole):
            each.set_epoch(epoch)
        wanted = [line for line in range(len(whole)) if expected(whole[line])]
        assert sorted(left_out(data)) == wanted
        assert not left_out(whole)
    assert not left_out(options(max_sentence_tokens=LIMIT, training=False)), "in training only"
    return len(wanted)


@pytest.mark.parametrize("separators", [True, False])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_joined_input_of_concatenation_has_the_limit_for_each_of_its_sentences(
    selection, sampled, separators
):
    window = {**CONTEXT, "context_selection": selection, "sample_context_size": sampled}
    room = LIMIT * {"absent": 1, "reference": 2}.get(selection, 5)

    def options(training=True, **more):
        return window_datasets.dataset(training=training, window=window, separators=separators, **more)

    assert check(options, lambda example: len(example["source"]) > room) or selection == "empty"


@pytest.mark.parametrize("context", [0, 1])
def test_table_6_6_of_the_thesis(context):
    """Without context 80 for a sentence, with one context sentence 160 for the two joined, of which one may
    be longer than 80; and on each of two inputs 80 again."""
    lengths = [81, 80, 79, 160, 80, 81, 79]
    texts = window_datasets.Sentences(torch.arange(4, 4 + length) for length in lengths)
    builder = window_datasets.dataset((len(texts),), window=dict(source_context=context)).builder
    lines = np.arange(len(texts))

    def kept(layout):
        return lines[~WindowSizes(builder, texts.sizes, None, layout).long_inputs(lines, 80)].tolist()

    assert kept("window") == ([1, 2, 4, 6] if not context else [0, 2, 6])
    assert kept("rows") == ([1, 2, 4, 6] if not context else [2])
    assert kept("vectors") == [1, 2, 4, 6], "vectors of context sentences are of any text"


@pytest.mark.parametrize("bos", [False, True])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("selection", sorted({*SELECTIONS} - {"swapped"}))
def test_each_input_of_several_encoders_has_the_limit(selection, joined, bos):
    room = LIMIT * ({"absent": 0, "reference": 1}.get(selection, 4) if joined else 1)

    def options(training=True, **more):
        more = {**CONTEXT, **more, "context_selection": selection}
        return rows_dataset(training=training, form={"bos": bos, "joined": joined}, **more)

    def expected(example):
        context = [text for text in example["context"] if text is not None]
        return len(example["source"]) > LIMIT or any(len(text) > room for text in context)

    assert check(options, expected)


def test_inputs_that_have_changed_places():
    """The source is what was the context, joined; the context is what was the source."""

    def options(training=True, **more):
        return rows_dataset(training=training, **{**CONTEXT, **more, "context_selection": "swapped"})

    def expected(example):
        assert len(example["context"]) == 1
        return len(example["source"]) > 4 * LIMIT or len(example["context"][0]) > LIMIT

    assert check(options, expected)


def test_context_that_takes_the_place_of_the_source_fits_the_model():
    data = rows_dataset(source_context=4, context_selection="swapped")
    kept, none = data.filter_indices_by_size(np.arange(len(data)), (20, 60))
    assert len(kept) == len(data) and not none
    assert 15 < max(len(data[line]["source"]) for line in kept) <= 20


def test_many_lines_are_gone_through_in_parts(monkeypatch):
    data = window_datasets.dataset(window=CONTEXT)
    lines = np.arange(len(data))
    whole = data.measured().long_inputs(lines, 4)
    monkeypatch.setattr("ctxmt_fairseq.data.window_sizes.CHUNK", 10)
    assert whole.any() and not whole.all() and NO_SENTENCE in data.builder.slots(lines).source
    parts = data.measured().long_inputs(lines, 4)
    assert parts.tolist() == whole.tolist()
