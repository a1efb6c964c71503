"""Reading text and document ids, and where documents begin."""

import json
import logging
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from ctxmt_fairseq.evaluation.metrics import read_translation
from ctxmt_fairseq.generation.input_documents import read_json_lines, read_with_ids
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.text_lines import iterate_lines, read_sentences


def write(folder, content: bytes, name="train.docids"):
    path = folder / name
    path.write_bytes(content)
    return path


def message(function, *args) -> str:
    with pytest.raises(BadInput) as caught:
        function(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(st.lists(st.integers(1, 6), max_size=12))
def test_bounds_are_those_of_the_own_document(lengths):
    documents = Documents.from_lengths(lengths)
    assert (len(documents), documents.sentences) == (len(lengths), sum(lengths))
    start, end = documents.bounds(np.arange(sum(lengths)))
    owner = [d for d, length in enumerate(lengths) for _ in range(length)]
    for sentence, d in enumerate(owner):
        assert (start[sentence], end[sentence]) == (owner.index(d), owner.index(d) + lengths[d])


@given(
    st.lists(st.sampled_from(["a", "b", "bb", "b" * 30]), max_size=40),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
    st.sampled_from([1, 7, 2**18]),
)
def test_reading_ids_gives_their_spans(tmp_path_factory, ids, newline, ends_with_newline, block):
    content = newline.join(i.encode() for i in ids) + (newline if ids and ends_with_newline else b"")
    with mock.patch("ctxmt_fairseq.text.text_lines._BLOCK", block):
        documents = Documents.read(write(tmp_path_factory.mktemp("ids"), content), len(ids))
    assert documents.starts.tolist() == Documents.from_ids(ids).starts.tolist()
    changes = [k for k in range(1, len(ids)) if ids[k] != ids[k - 1]]
    assert documents.starts.tolist() == sorted({0, *changes, len(ids)})


def test_reading_ids_ignores_how_lines_end_and_a_byte_order_mark(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbfdoc 1\ndoc 1\r\ndoc 1\nd\xc3\xa9\nd\xc3\xa9")
    assert Documents.read(path).starts.tolist() == [0, 3, 5]


def test_a_returning_id_starts_a_new_document_with_a_warning(tmp_path, caplog):
    path = write(tmp_path, b"a\na\nb\na\nb\n")
    with caplog.at_level(logging.WARNING):
        assert Documents.read(path).starts.tolist() == [0, 2, 3, 4, 5]
    assert [f"{path}:4: document id 'a' returns" in text for text in caplog.messages] == [True]


def test_distinct_ids_give_no_warning(tmp_path, caplog):
    Documents.read(write(tmp_path, b"a\na\nb\n"))
    assert not caplog.messages


def test_another_number_of_ids_than_sentences(tmp_path):
    path = write(tmp_path, b"a\na\nb\n")
    assert message(Documents.read, path, 4) == f"{path}: expected 4 document ids, one per sentence, found 3"
    assert "expected 2 document ids" in message(Documents.read, path, 2)


@pytest.mark.parametrize(
    "content, line, found",
    [
        (b"a\n\nb\n", 2, "expected a document id, found a blank line"),
        (b"a\nb\n  \n", 3, "expected a document id, found a blank line"),
        (b"\n", 1, "expected a document id, found a blank line"),
        (b"a\na\nb\0\n", 3, "expected text, found a NUL byte"),
        (b"a\na\na\n\xffb\n", 4, "expected UTF-8, found byte 0xff"),
    ],
)
def test_unusable_ids_are_named_by_line(tmp_path, content, line, found):
    path = write(tmp_path, content)
    assert message(Documents.read, path) == f"{path}:{line}: {found}"


def test_an_endless_id_is_named_by_line(tmp_path):
    path = write(tmp_path, b"a\nb\n" + b"c" * (2**24 + 1))
    assert message(Documents.read, path) == f"{path}:3: expected lines of at most {2**24} bytes"


def test_a_missing_file_is_named(tmp_path):
    for read in (Documents.read, read_sentences, lambda path: list(iterate_lines(path))):
        assert message(read, tmp_path / "gone") == f"{tmp_path / 'gone'}: no such file"


def test_sentences_are_stripped_and_empty_ones_kept(tmp_path):
    path = write(tmp_path, "\ufeff one two \r\n\n d\u00e9j\u00e0\u2028vu\x0b\x85x\nlast".encode(), "train.en")
    assert read_sentences(path) == ["one two", "", "d\u00e9j\u00e0\u2028vu\x0b\x85x", "last"]


@pytest.mark.parametrize(
    "content, line, found",
    [
        (b"one\ntwo \xc3\x28 three\n", 2, "expected UTF-8, found byte 0xc3"),
        (b"one\n\ntw\0o\n", 3, "expected text, found a NUL byte"),
    ],
)
def test_unusable_text_is_named_by_line(tmp_path, content, line, found):
    path = write(tmp_path, content, "train.en")
    assert message(read_sentences, path) == f"{path}:{line}: {found}"


def test_white_space_around_an_id_is_no_part_of_it_for_any_command(tmp_path):
    ids = ["\ufeffd", "d ", "\td", "\u00a0d\r", "d 1", "d  1", " e", "e\u2003", "\ufeffe ", "d"]
    starts = [0, 4, 5, 6, 9, 10]
    for suffix, lines in (("docids", ids), ("en", ["a"] * 10), ("fr", ["b"] * 10)):
        write(tmp_path, "".join(line + "\n" for line in lines).encode(), f"test.{suffix}")
    records = ({"source": "a", "document": name} for name in ids)
    write(tmp_path, "".join(json.dumps(record) + "\n" for record in records).encode(), "test.jsonl")
    text, docids = tmp_path / "test.en", tmp_path / "test.docids"
    translated = read_with_ids(text, docids).documents
    assert translated.starts.tolist() == starts
    assert read_json_lines(tmp_path / "test.jsonl").documents.starts.tolist() == starts
    assert read_translation(text, [text], docids).document_lengths == np.diff(starts).tolist()
    corpus = Corpus("en", "fr", {"train": str(tmp_path / "test")})
    described = preprocess(corpus, Vocabulary(subwords=False), tmp_path / "data")
    assert described["splits"]["train"]["documents"] == len(translated)
    binarised = Documents.read(tmp_path / "data" / "train.en-fr.docids")  # as fairseq's tasks do
    assert binarised.starts.tolist() == starts
