"""Damaged data folders are refused with the file's name before anything is trained or evaluated on them."""

import json
import struct

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, data_utils
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.data_folder import load_dictionary, read_description
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from ctxmt_fairseq.data import binarised
from ctxmt_fairseq.tasks.document_window import DocumentWindowConfig, DocumentWindowTask

SENTENCES = [[4, 5, 2], [2], [6, 2], [7, 4, 4, 5, 2]]


@pytest.fixture
def dictionary():
    made = Dictionary()
    for symbol in "abcd":
        made.add_symbol(symbol)
    return made


@pytest.fixture(params=[np.uint16, np.int32, np.int64])
def prefix(tmp_path, request):
    builder = MMapIndexedDatasetBuilder(str(tmp_path / "train.bin"), request.param)
    for sentence in SENTENCES:
        builder.add_item(torch.tensor(sentence))
    builder.finalize(str(tmp_path / "train.idx"))
    return tmp_path / "train"


def change(path, at, content):
    data = bytearray(path.read_bytes())
    data[at : at + len(content)] = content
    path.write_bytes(data)


def test_sentences_as_fairseq_writes_them(prefix, dictionary, monkeypatch):
    binarised.check_sentences(prefix, dictionary)
    monkeypatch.setattr(binarised, "_CHUNK", 3)
    binarised.check_sentences(prefix, dictionary)
    read = data_utils.load_indexed_dataset(str(prefix), dictionary, "mmap")
    assert [read[line].tolist() for line in range(4)] == SENTENCES


@pytest.mark.parametrize("chunk", [1, 3, 2**16])
def test_every_truncation_is_found(prefix, dictionary, monkeypatch, chunk):
    monkeypatch.setattr(binarised, "_CHUNK", chunk)
    for suffix in (".idx", ".bin"):
        path = prefix.with_suffix(suffix)
        whole = path.read_bytes()
        for damaged in [whole[:length] for length in range(9, len(whole))] + [whole + b"\0", b""]:
            if suffix == ".idx" and damaged == b"":
                continue  # no index of this format: fairseq's own check
            path.write_bytes(damaged)
            with pytest.raises(BadInput, match=f"train{suffix}"):
                binarised.check_sentences(prefix, dictionary)
        path.write_bytes(whole)


def test_damaged_indices_and_tokens_are_found(prefix, dictionary):
    index, tokens = prefix.with_suffix(".idx"), prefix.with_suffix(".bin")
    item = len(tokens.read_bytes()) // 11
    whole = index.read_bytes(), tokens.read_bytes()
    for path, at, content, message in (
        (index, 9, struct.pack("<Q", 2), "train.idx: expected an index"),
        (index, 17, b"\x06", "train.idx: expected an index"),  # floating-point numbers
        (index, 17, b"\xff", "train.idx: expected an index"),
        (index, 18, struct.pack("<Q", 2**60), "train.idx: expected an index"),
        (index, 18, struct.pack("<Q", 3), "train.idx: truncated or damaged"),
        (index, 26, struct.pack("<i", 2**30), "train.idx:2: damaged"),
        (index, 30, struct.pack("<i", -1), "train.idx:2: damaged"),
        (index, 26 + 16 + 24, struct.pack("<q", 2**40), "train.idx:4: damaged"),
        (
            tokens,
            item * 7,
            b"\x63",
            "train.bin:4: expected tokens below 8, the size of the dictionary, found 99",
        ),
        (tokens, item * 3, b"\x04", "train.bin:2: damaged: expected </s>"),
    ):
        change(path, at, content)
        with pytest.raises(BadInput) as refused:
            binarised.check_sentences(prefix, dictionary)
        assert message in str(refused.value)
        index.write_bytes(whole[0])
        tokens.write_bytes(whole[1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a 1\nb\n", ":2: expected a symbol and its count"),
        (b"a x\n", ":1: expected a symbol and its count"),
        (b"a -1\n", ":1: expected a symbol and its count"),
        (b"a 1\n\nb 1\n", ":2: expected a symbol and its count"),
        (b"a " + b"9" * 5000 + b"\n", ":1: expected a symbol and its count"),
        (b"a 1\nb 1\na 1\n", ":3: the symbol a is there twice"),
        (b"<pad> 1\n", ":1: the symbol <pad> is there twice"),
        (b"a 1\n\xc3", ":2: expected UTF-8"),
        (b"\xef\xbb\xbfa 1\n", ":1: expected a symbol, found a byte order mark"),
        (None, ": no such file"),
    ],
)
def test_damaged_dictionaries(tmp_path, content, message):
    path = tmp_path / "dict.en.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput) as refused:
        load_dictionary(path)
    assert str(refused.value).startswith(f"{path}{message}")


@pytest.fixture
def folder(tmp_path):
    for suffix, lines in {"en": "a b\nc\n", "fr": "x\ny z\n", "docids": "1\n1\n"}.items():
        (tmp_path / f"train.{suffix}").write_text(lines)
    corpus = Corpus("en", "fr", {"train": str(tmp_path / "train")})
    preprocess(corpus, Vocabulary(subwords=False), tmp_path / "data")
    return tmp_path / "data"


def load(folder, **options):
    split = {"dataset_impl": None, "train_subset": "train"}
    task = DocumentWindowTask.setup_task(DocumentWindowConfig(data=str(folder), seed=1, **split, **options))
    task.load_dataset("train")
    return task


def test_a_reordered_dictionary_is_refused(folder):
    load(folder)
    path = folder / "dict.en.txt"
    lines = path.read_text().splitlines(keepends=True)
    for damaged in (lines[::-1], lines[:-1], [*lines, "new 1\n"]):
        path.write_text("".join(damaged))
        with pytest.raises(BadInput, match=r"dict\.en\.txt: changed since ctxmt preprocess wrote it"):
            load(folder)
    description = json.loads((folder / "ctxmt.json").read_text())
    del description["dictionaries"]  # a folder of fairseq-preprocess does not tell
    (folder / "ctxmt.json").write_text(json.dumps(description))
    path.write_text("".join(lines[::-1]))
    load(folder)


@pytest.mark.parametrize("name", ["train.en-fr.en.bin", "train.en-fr.fr.idx"])
def test_damaged_text_is_refused_when_it_is_loaded(folder, name):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-1])
    with pytest.raises(BadInput, match=name):
        load(folder)
    (folder / name).write_bytes(b"another format")
    with pytest.raises(BadInput, match="train.en-fr"):
        load(folder)


def test_document_ids_and_marks(folder):
    ids, current = folder / "train.en-fr.docids", folder / "train.en-fr.current"
    ids.write_text("1\n")
    with pytest.raises(BadInput, match="expected 2 document ids"):
        load(folder, source_context=1)
    ids.write_text("1\n1\n")
    current.write_text("1\n2\n")
    with pytest.raises(BadInput, match="current:2: expected 0 or 1, found '2'"):
        load(folder)


@pytest.mark.parametrize("key", ["version", "source_lang", "target_lang", "splits"])
def test_descriptions_without_a_key(folder, key):
    path = folder / "ctxmt.json"
    whole = json.loads(path.read_text())
    for damaged in ({k: v for k, v in whole.items() if k != key}, {**whole, key: None}, {**whole, key: [1]}):
        path.write_text(json.dumps(damaged))
        with pytest.raises(BadInput, match=rf"ctxmt\.json: expected .* '{key}'"):
            read_description(folder)
    path.write_text(json.dumps({**whole, "splits": {"train": {}}}))
    with pytest.raises(BadInput, match=r"ctxmt\.json: split 'train': expected the key 'sentences'"):
        read_description(folder)


def test_no_folder(tmp_path):
    with pytest.raises(BadInput, match="no such data folder"):
        load(tmp_path / "none")
    with pytest.raises(BadInput, match="no ctxmt.json and no names of files tell its languages"):
        load(tmp_path)
