"""A context store after its writer was killed at any moment: it opens or is resumed, and ends up the same."""

import fcntl
import os
import shutil

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora import embed as embedding
from ctxmt_fairseq.corpora import store_writer
from ctxmt_fairseq.vectors.context_store import ContextStore
from ctxmt_fairseq.vectors.text_encoders import DiscreteEncoder
from tests.helpers.context_stores import NotingEncoder, contents, make_store, write_split

SPLITS = ["train", "valid"]


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr(store_writer, "CHUNK", 3)
    write_split(tmp_path, "train")
    write_split(tmp_path, "valid", ["A cat.", "New.", "Newer."], [{"genre": "Drama"}, {}, {}])
    return tmp_path


def snapshots(root, monkeypatch, *splits):
    """Copies of the store as a kill would leave it: before and after everything that reaches the disk."""
    taken = []

    def snapshot():
        if (root / "store").is_dir():
            taken.append(root / f"snapshot {len(taken)}")
            shutil.copytree(root / "store", taken[-1])

    def watched(function):
        def call(*args):
            snapshot()
            result = function(*args)
            snapshot()
            return result

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", watched(os.fsync))
        patch.setattr(os, "replace", watched(os.replace))
        make_store(root, *splits)
    return taken


def openable(folder):
    """Whether a store opens; if not, it says that it holds nothing yet."""
    try:
        ContextStore.open(folder)
    except BadInput as error:
        assert "found no store.json" in str(error) or "holds no vector yet" in str(error)
        return False
    return True


def test_killed_at_any_moment_and_resumed_is_uninterrupted(text, monkeypatch):
    taken = snapshots(text, monkeypatch, *SPLITS)
    whole = contents(text / "store")
    assert sorted(whole) == sorted(["store.json", "vectors.bin", "texts.txt", "train.index", "valid.index"])
    opened = [openable(folder) for folder in taken]
    first = opened.index(True)
    assert first < 25 and all(opened[first:])  # from the first vector on, every moment's store can be read
    assert len(taken) > 60
    encoder = NotingEncoder()
    monkeypatch.setattr(embedding, "load_text_encoder", lambda *args: encoder)
    embedded = []
    for folder in taken:
        encoder.asked.clear()
        make_store(text, *SPLITS, out=folder.name)
        assert contents(folder) == whole
        embedded.append(len(encoder.asked))
    assert embedded == sorted(embedded, reverse=True)  # the later, the less is left to embed
    assert embedded[0] == 9 and embedded[-1] == 0


def test_what_a_kill_leaves_behind_the_header_is_cut_off(text):
    folder, _ = make_store(text, "train")
    before = contents(folder)
    for name in ("vectors.bin", "texts.txt"):
        with open(folder / name, "ab") as stream:
            stream.write(b"half of what was to c")
    for name in (".ctxmt-0123456789abcdef-0123456789abcdef", ".lookup.sqlite"):
        (folder / name).write_bytes(b"half")
    ContextStore.open(folder)
    make_store(text, "train")
    assert contents(folder) == before


def test_while_a_split_is_replaced_readers_see_the_old_the_new_or_none(text, monkeypatch):
    make_store(text, *SPLITS)
    write_split(text, "train", ["A cat.", "Other."], [{}, {"genre": "Crime"}])
    seen = set()
    for folder in snapshots(text, monkeypatch, "train"):
        header = ContextStore.open(folder).header
        assert "valid" in header.splits
        seen.add(header.splits.get("train", {}).get("sentences"))
    assert seen == {6, None, 2}


def test_an_error_while_embedding_leaves_what_was_embedded(text, monkeypatch):
    encode = DiscreteEncoder.encode
    asked = []

    def fail(self, texts):
        asked.extend(texts)
        if "Newer." in texts:
            raise RuntimeError("out of memory")
        return encode(self, texts)

    with monkeypatch.context() as patch:
        patch.setattr(DiscreteEncoder, "encode", fail)
        with pytest.raises(RuntimeError, match="out of memory"):
            make_store(text, *SPLITS)
    folder = text / "store"
    assert list(ContextStore.open(folder).header.splits) == ["train"]
    assert not [name for name in contents(folder) if name.startswith(".")]
    make_store(text, *SPLITS)
    assert contents(folder) == contents(make_store(text, *SPLITS, out="uninterrupted")[0])


def test_two_writers_exclude_each_other(text):
    folder, _ = make_store(text, "train")
    before = contents(folder)
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(BadInput, match="another ctxmt embed is writing to it"):
        make_store(text, "valid")
    assert contents(folder) == before
    os.close(descriptor)
    make_store(text, "valid")
