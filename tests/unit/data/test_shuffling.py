"""Shuffled contexts: the set's own contexts, each whole, and no sentence with its own."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import ContextOptions
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.text.absence import NO_SENTENCE
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.window_datasets import slots

many_documents = st.lists(st.integers(1, 4), min_size=30, max_size=40)
sizes = st.integers(0, 3)


def contexts(lengths, selection, lines=None, epoch=0, seed=1, **options):
    """The context of each of ``lines``: its four roles' sentences."""
    chosen = ContextOptions(**options, context_selection=selection)
    builder = WindowBuilder(Documents.from_lengths(lengths), chosen, seed)
    lines = np.arange(sum(lengths)) if lines is None else np.array(lines)
    if builder.shuffled is not None:
        builder.shuffled.among(lines)
    found = slots(builder, lines, epoch)
    return [tuple(tuple(role[row].tolist()) for role in found) for row in range(len(lines))]


def sentences(context):
    return {sentence for role in context for sentence in role} - {NO_SENTENCE}


@given(many_documents, sizes, sizes, sizes, sizes, st.integers(0, 5))
def test_a_permutation_without_a_sentences_own(lengths, before, after, target, on_source, epoch):
    options = {
        "source_context": before,
        "source_context_after": after,
        "target_context": target,
        "target_context_on_source": on_source,
    }
    real = contexts(lengths, "document", **options)
    shuffled = contexts(lengths, "shuffled", epoch=epoch, **options)
    assert Counter(shuffled) == Counter(real)
    for line, (own, other) in enumerate(zip(real, shuffled, strict=True)):
        assert bool(sentences(other)) == bool(sentences(own)), "a document's first sentence has no context"
        assert not sentences(other) & (sentences(own) | {line})


def test_only_the_contexts_of_what_is_translated():
    """Samples of two context sentences and a current one: nobody gets the context of a context sentence."""
    lines = np.arange(2, 90, 3)
    real = contexts([3] * 30, "document", lines, source_context=2)
    shuffled = contexts([3] * 30, "shuffled", lines, source_context=2)
    assert Counter(shuffled) == Counter(real) and not any(map(tuple.__eq__, shuffled, real))


def test_one_long_document_is_enough():
    real, shuffled = (contexts([50], name, source_context=1) for name in ("document", "shuffled"))
    assert Counter(shuffled) == Counter(real)
    for line, context in enumerate(shuffled[1:], 1):
        assert context[1][0] not in (line - 1, line, NO_SENTENCE)


def test_the_permutation_depends_on_seed_and_epoch():
    one = contexts([2] * 50, "shuffled", source_context=1)
    assert one == contexts([2] * 50, "shuffled", source_context=1)
    for other in ({"seed": 2}, {"epoch": 1}):
        assert one != contexts([2] * 50, "shuffled", source_context=1, **other)


@pytest.mark.parametrize("lengths", [[2], [3], [2, 1], [1, 4, 1]])
def test_sets_that_cannot_be_shuffled(lengths):
    with pytest.raises(BadInput, match="shuffled: .* too few to exchange their contexts"):
        contexts(lengths, "shuffled", source_context=2)


def test_without_context_there_is_nothing_to_shuffle():
    assert contexts([3], "shuffled") == [((), (), (), ())] * 3
