"""Context as vectors: which an example has, and how they stand in a batch."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import VectorOptions
from ctxmt_fairseq.data.metadata_context_dataset import MetadataContextDataset
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.text.absence import CURRENT, METADATA, NO_TAG, NO_VECTOR
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.vectors.sentence_contexts import contexts_of
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder
from tests.helpers.window_datasets import VOCABULARY, requesting, sentences

LENGTHS = (3, 1, 4)
TEXTS = [f"sentence {line}" for line in range(sum(LENGTHS))]
RECORDS = (
    [{"genre": "Drama", "rated": "R"}] * 3
    + [{}]
    + [{"rated": "N/A"}, {"genre": "Horror"}, {}, {"rated": "R"}]
)
CONTEXTS = contexts_of(load_text_encoder("discrete"), TEXTS, RECORDS)


def dataset(
    current=True, dropout=0.0, training=False, tags=None, contexts=CONTEXTS, lengths=LENGTHS, **window
):
    n = sum(lengths)
    builder = WindowBuilder(
        Documents.from_lengths(lengths),
        VectorOptions(current_vector="yes" if current else "no", context_dropout=dropout, **window),
        1,
    )
    return MetadataContextDataset(
        *(sentences(n, 4, 9), VOCABULARY, sentences(n, 210, 9), VOCABULARY, builder),
        contexts=contexts,
        tags=tags,
        training=training,
        request=requesting("vectors"),
        name="split",
    )


def described(data, line):
    """(distance, embedded text) of a line's vectors."""
    example = data[line]
    texts = data.contexts.texts(example["vectors"].tolist())
    return list(zip(example["distances"].tolist(), texts, strict=True))


def test_an_example_has_metadata_previous_sentences_and_its_own():
    data = dataset(source_context=2)
    genre = [(METADATA, "Drama"), (METADATA, "PG rating: R")]
    assert described(data, 0) == [*genre, (CURRENT, "sentence 0")]
    assert described(data, 2) == [*genre, (2, "sentence 0"), (1, "sentence 1"), (CURRENT, "sentence 2")]
    assert described(data, 3) == [(CURRENT, "sentence 3")]  # no metadata, another document
    assert described(data, 4) == [(CURRENT, "sentence 4")]  # N/A says nothing
    assert described(data, 5) == [(METADATA, "Horror"), (1, "sentence 4"), (CURRENT, "sentence 5")]


def test_the_current_sentence_can_be_left_out():
    data = dataset(current=False, source_context=1)
    assert described(data, 1) == [(METADATA, "Drama"), (METADATA, "PG rating: R"), (1, "sentence 0")]
    assert described(data, 3) == []


def test_selections():
    assert described(dataset(source_context=2, context_selection="absent"), 2) == []
    empty = dataset(source_context=2, context_selection="empty")
    assert [text for _, text in described(empty, 2)] == [""] * 5
    assert [distance for distance, _ in described(empty, 2)] == [METADATA, METADATA, 2, 1, CURRENT]
    random = dataset(source_context=2, context_selection="random")
    drawn = [described(random, line) for line in (0, 1, 2)]
    own = set(TEXTS[:3])
    assert not [text for vectors in drawn for distance, text in vectors if text in own]
    assert [[distance for distance, _ in vectors if distance >= 0] for vectors in drawn] == [
        [0],
        [1, 0],
        [2, 1, 0],
    ]
    assert drawn == [
        described(dataset(source_context=2, context_selection="random"), line) for line in (0, 1, 2)
    ]


def test_random_context_wants_another_document():
    contexts = contexts_of(load_text_encoder("discrete"), TEXTS[:3], [{}] * 3)
    with pytest.raises(BadInput, match="two documents"):
        dataset(contexts=contexts, lengths=(3,), context_selection="random")


def test_a_store_without_sentences_has_metadata_only():
    contexts = contexts_of(load_text_encoder("discrete"), TEXTS, RECORDS)
    contexts.sentences[:] = -1
    with pytest.raises(BadInput, match="vectors of sentences"):
        dataset(contexts=contexts)
    data = dataset(contexts=contexts, current=False)
    assert [text for _, text in described(data, 0)] == ["Drama", "PG rating: R"]


def test_a_batch_has_the_vectors_and_what_each_is():
    data = dataset(source_context=2)
    batch = data.collater([data[line] for line in (0, 2, 3)])
    vectors, distances = (batch["windows"][name] for name in ("vectors", "distances"))
    assert "tags" not in batch["net_input"]["context"]
    assert vectors.shape == (3, 5, 384) and vectors.dtype == torch.float32
    encoder = load_text_encoder("discrete")
    for row, line in enumerate(batch["id"].tolist()):
        expected = described(data, line)
        width = len(expected)
        assert distances[row].tolist() == [distance for distance, _ in expected] + [NO_VECTOR] * (5 - width)
        np.testing.assert_array_equal(vectors[row, :width], encoder.encode([text for _, text in expected]))
        assert not vectors[row, width:].any()


def test_a_batch_without_context_has_one_empty_place():
    data = dataset(context_selection="absent")
    batch = data.collater([data[0], data[1]])
    assert batch["net_input"]["context"]["distances"].tolist() == [[NO_VECTOR], [NO_VECTOR]]


def test_tags_are_of_metadata_only():
    tags = np.zeros(len(CONTEXTS.vectors), np.int32)
    (drama,) = [row for row in range(len(tags)) if CONTEXTS.texts([row]) == ["Drama"]]
    tags[drama] = 7
    data = dataset(tags=tags, source_context=1)
    batch = data.collater([data[2], data[3]])
    row = batch["id"].tolist().index(2)
    assert batch["net_input"]["context"]["tags"][row].tolist() == [7, 0, NO_TAG, NO_TAG]  # "R": unknown
    assert batch["net_input"]["context"]["tags"][1 - row].tolist() == [NO_TAG] * 4


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 0.95), st.integers(1, 50))
def test_dropout_never_takes_everything(probability, epoch):
    data = dataset(dropout=probability, training=True, source_context=2)
    data.set_epoch(epoch)
    whole = dataset(source_context=2)
    for line in range(len(data)):
        kept = described(data, line)
        assert kept and set(kept) <= set(described(whole, line))
        assert kept == described(data, line)


def test_dropout_leaves_out_the_share_that_it_should():
    data = dataset(dropout=0.3, training=True, source_context=2)
    kept = total = 0
    for epoch in range(1, 300):
        data.set_epoch(epoch)
        kept += len(data[2]["vectors"])
        total += 5
    assert abs(kept / total - 0.7) < 0.04


def test_what_is_visible_restores_the_example():
    data = dataset(source_context=2)
    examples = [data[line] for line in (0, 2, 5)]
    expected = data.collater([dict(example, target=None) for example in examples])
    restored = [data.restored(example["id"], data.visible(example)) for example in examples]
    found = data.collater(restored)
    assert found["id"].tolist() == expected["id"].tolist()
    assert torch.equal(found["net_input"]["src_tokens"], expected["net_input"]["src_tokens"])
    for name in ("vectors", "distances"):
        assert torch.equal(found["windows"][name], expected["windows"][name])


def test_sizes_count_a_vector_as_a_token():
    data = dataset(source_context=2)
    own = [len(data.source[line]) for line in range(len(data))]
    previous = [0, 1, 2, 0, 0, 1, 2, 2]
    assert data.sizes[:, 0].tolist() == [a + b for a, b in zip(own, previous, strict=True)]
