"""A context store: what was put in comes out, once for each text; every refusal."""

import os
import pickle
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora import embed as embedding
from ctxmt_fairseq.vectors.context_store import TEXTS, ContextStore, stored_texts
from ctxmt_fairseq.vectors.sentence_contexts import contexts_of
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder
from tests.helpers.context_stores import (
    METADATA,
    SENTENCES,
    NotingEncoder,
    contents,
    make_store,
    write_lines,
    write_split,
)

DISCRETE = load_text_encoder("discrete")
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "A cat.", "A  dog.", "Yes", "Été"]),
        st.dictionaries(
            st.sampled_from(["genre", "year", ""]), st.sampled_from(["R", "N/A", " 2009 ", "Yes"])
        ),
    ),
    min_size=1,
    max_size=9,
)


@pytest.fixture
def text(tmp_path):
    write_split(tmp_path, "train")
    write_split(tmp_path, "valid", ["A cat.", "New."], [{"genre": "Drama"}, {}])
    return tmp_path


def shown(contexts):
    """The texts of every sentence and field, None for nothing."""
    rows = np.concatenate([np.asarray(contexts.sentences)[:, None], np.asarray(contexts.metadata)], axis=1)
    return [[contexts.texts([row])[0] if row >= 0 else None for row in line] for line in rows.tolist()]


# ---- what is in a store ------------------------------------------------------------------------------------


def test_the_texts_of_a_small_corpus(text):
    folder, report = make_store(text, "train")
    store = ContextStore.open(folder, encoder="discrete", dimension=384)
    contexts = store.split("train", 6)
    assert contexts.fields == store.header.fields == ("genre", "rating", "formality")
    assert shown(contexts) == [
        ["A cat.", "Drama", "PG rating: R", None],
        ["A dog.", "Drama", None, None],
        ["", None, None, None],
        ["A cat.", None, None, "Formal talk"],
        ["Formal talk", None, "PG rating: R", None],
        ["It sleeps.", "Crime", None, None],
    ]
    assert contexts.texts([contexts.empty]) == [""] and contexts.empty == 0
    texts = ["", "A cat.", "Drama", "PG rating: R", "A dog.", "Formal talk", "It sleeps.", "Crime"]
    assert contexts.texts(range(len(texts))) == texts
    np.testing.assert_array_equal(contexts.vectors, DISCRETE.encode(texts))
    assert (report["contexts"], report["distinct"]) == (12, len(texts))
    assert report["splits"] == {"train": {"sentences": 6, "contexts": 12, "new": len(texts) - 1}}
    assert report["bytes"] == sum(map(len, contents(folder).values()))
    assert report["bytes_one_per_context"] == 12 * 384 * 4


@given(st.lists(ROWS, min_size=1, max_size=3), st.sampled_from(["float32", "float16"]))
@settings(max_examples=25)
def test_a_store_holds_what_contexts_of_gives(splits, dtype):
    with tempfile.TemporaryDirectory() as root:
        for number, rows in enumerate(splits):
            write_split(root, f"split{number}", *zip(*rows, strict=True))
        names = [f"split{number}" for number in range(len(splits))]
        folder, report = make_store(root, *names, dtype=dtype)
        store = ContextStore.open(folder)
        assert store.vectors.dtype == dtype and len(store.vectors) == store.header.count
        everything = []
        for name, rows in zip(names, splits, strict=True):
            found, expected = store.split(name, len(rows)), contexts_of(DISCRETE, *zip(*rows, strict=True))
            columns = [0, *(1 + found.fields.index(field) for field in expected.fields)]
            assert [[line[column] for column in columns] for line in shown(found)] == shown(expected)
            everything += [text for line in shown(found) for text in line if text is not None]
        texts = found.texts(range(store.header.count))
        assert len(set(texts)) == len(texts) and set(texts) == {"", *everything}
        np.testing.assert_array_equal(store.vectors, DISCRETE.encode(texts).astype(dtype))
        assert report["contexts"] == len(everything)


def test_sentences_or_fields_can_be_left_out(text):
    folder, _ = make_store(text, "train", fields=["rating"], sentences=False)
    contexts = ContextStore.open(folder).split("train", 6)
    assert shown(contexts)[0] == [None, "PG rating: R"] and set(contexts.sentences) == {-1}
    assert not ContextStore.open(folder).header.sentences
    folder, _ = make_store(text, "train", out="no metadata", fields=[])
    assert ContextStore.open(folder).split("train", 6).metadata.shape == (6, 0)


def test_fields_come_from_files_too(text):
    write_lines(text / "valid.meta.plot", ["A man and a dog.", ""])
    write_lines(text / "valid.meta.year", ["", "2009"])
    write_lines(text / "valid.meta.year~", ["an editor's", "backup"])
    folder, _ = make_store(text, "valid")
    contexts = ContextStore.open(folder).split("valid", 2)
    assert contexts.fields == ("genre", "plot", "year")
    assert shown(contexts) == [
        ["A cat.", "Drama", "A man and a dog.", None],
        ["New.", None, None, "Released in 2009"],
    ]


def test_blank_lines_between_documents(tmp_path):
    write_split(tmp_path, "train", ["One.", "Two."], [{}, {}])
    for suffix in ("docids", "meta.jsonl"):
        (tmp_path / f"train.{suffix}").unlink()
    for suffix, lines in (("en", ["", "One.", "", "Two.", ""]), ("fr", ["", "x", "", "x", ""])):
        write_lines(tmp_path / f"train.{suffix}", lines)
    write_lines(tmp_path / "train.meta.genre", ["", "Drama", "", "Crime"])
    folder, _ = make_store(tmp_path, "train", blank_lines=True)
    assert shown(ContextStore.open(folder).split("train", 2)) == [["One.", "Drama"], ["Two.", "Crime"]]


def test_texts_are_those_of_the_store_that_is_there_now(tmp_path):
    for number, texts in enumerate((["", "ab", "cdef"], ["", "abc", "efg"])):
        write_lines(tmp_path / TEXTS, texts)
        os.utime(tmp_path / TEXTS, ns=(number, number))
        assert stored_texts(tmp_path, [0, 1, 2]) == texts


def test_a_worker_can_be_sent_the_contexts(text):
    contexts = ContextStore.open(make_store(text, "train")[0]).split("train", 6)
    assert shown(pickle.loads(pickle.dumps(contexts))) == shown(contexts)


# ---- adding ------------------------------------------------------------------------------------------------


def test_adding_embeds_only_what_is_new(text, monkeypatch):
    encoder = NotingEncoder()
    monkeypatch.setattr(embedding, "load_text_encoder", lambda *args: encoder)
    folder, _ = make_store(text, "train")
    before = contents(folder)
    encoder.asked.clear()
    _, report = make_store(text, "train")
    assert encoder.asked == [] and contents(folder) == before and report["splits"]["train"]["new"] == 0
    _, report = make_store(text, "valid")
    assert encoder.asked == ["New."] and report["splits"]["valid"]["new"] == 1
    store = ContextStore.open(folder)
    assert shown(store.split("valid", 2)) == [["A cat.", "Drama", None, None], ["New.", None, None, None]]
    assert len(shown(store.split("train", 6))) == 6
    together, _ = make_store(text, "train", "valid", out="together")
    assert contents(together) == contents(folder)


def test_a_changed_text_replaces_its_index(text):
    folder, _ = make_store(text, "valid", "train")
    write_split(text, "train", SENTENCES[::-1], METADATA[::-1])
    _, report = make_store(text, "train")
    assert report["splits"]["train"]["new"] == 0
    assert shown(ContextStore.open(folder).split("train", 6))[5] == ["A cat.", "Drama", "PG rating: R", None]


def test_fields_of_an_existing_store_may_be_named_in_any_order(text):
    folder, _ = make_store(text, "train", fields=["genre", "rating"])
    make_store(text, "valid", fields=["rating", "genre"])
    assert ContextStore.open(folder).header.fields == ("genre", "rating")


def test_a_field_that_is_named_twice_is_embedded_once(text):
    folder, report = make_store(text, "train", fields=["genre", "genre"])
    assert ContextStore.open(folder).header.fields == ("genre",) and report["contexts"] == 9


@pytest.mark.parametrize(
    "what, options",
    [
        ("encoder discrete, not minilm", {"encoder": "minilm"}),
        ("dtype float32, not float16", {"dtype": "float16"}),
        ("sentences yes, not no", {"sentences": False}),
        ("fields genre, rating, formality, not rating", {"fields": ["rating"]}),
    ],
)
def test_another_kind_of_store_is_not_added_to(text, what, options, monkeypatch):
    def load(name, *args):
        encoder = NotingEncoder()
        encoder.name = name
        return encoder

    monkeypatch.setattr(embedding, "load_text_encoder", load)
    folder, _ = make_store(text, "train")
    before = contents(folder)
    with pytest.raises(BadInput, match=f"store there has (the )?{what}; .*--out"):
        make_store(text, "valid", **options)
    assert contents(folder) == before


def test_new_fields_are_not_passed_over(text):
    make_store(text, "valid")
    with pytest.raises(
        BadInput, match="has the fields genre, not genre, rating, formality; --fields chooses"
    ):
        make_store(text, "train")
    make_store(text, "train", fields=["genre"])


def test_an_encoder_that_has_changed_is_noticed(text, monkeypatch):
    folder, _ = make_store(text, "train")
    before = contents(folder)
    monkeypatch.setattr(NotingEncoder, "encode", lambda self, texts: -DISCRETE.encode(texts))
    monkeypatch.setattr(embedding, "load_text_encoder", lambda *args: NotingEncoder())
    with pytest.raises(
        BadInput, match="the encoder discrete gives other vectors than when the store was made"
    ):
        make_store(text, "valid")
    assert contents(folder) == before


def test_an_encoder_that_always_gives_the_empty_text_zeros_is_noticed_by_others(text, monkeypatch):
    sign = 1

    def encode(_, texts):
        return np.stack([sign * DISCRETE.encode([each])[0] * bool(each) for each in texts])

    monkeypatch.setattr(NotingEncoder, "encode", encode)
    monkeypatch.setattr(embedding, "load_text_encoder", lambda *args: NotingEncoder())
    make_store(text, "train")
    make_store(text, "train")
    sign = -1
    with pytest.raises(BadInput, match="gives other vectors than when the store was made"):
        make_store(text, "valid")


@pytest.mark.parametrize("wrong", [np.full((1, 384), np.nan), np.zeros((1, 3))])
def test_an_encoder_that_gives_no_vectors_is_refused(text, wrong, monkeypatch):
    monkeypatch.setattr(NotingEncoder, "encode", lambda self, texts: wrong)
    monkeypatch.setattr(embedding, "load_text_encoder", lambda *args: NotingEncoder())
    with pytest.raises(BadInput, match="expected 1 vectors of 384 finite numbers from the encoder discrete"):
        make_store(text, "train")
