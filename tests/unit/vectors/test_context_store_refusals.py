"""What a context store and its writer refuse: files that were changed, another corpus, wrong metadata."""

import json

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.vectors.context_store import ContextStore, header_checksum, read_header
from tests.helpers.context_stores import (
    SENTENCES,
    contents,
    data_folder,
    make_store,
    write_lines,
    write_split,
)


@pytest.fixture
def text(tmp_path):
    write_split(tmp_path, "train")
    write_split(tmp_path, "valid", ["A cat.", "New."], [{"genre": "Drama"}, {}])
    return tmp_path


# ---- refusals of a reader ----------------------------------------------------------------------------------

FILES = ["vectors.bin", "texts.txt", "train.index"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("at", [0, -1])
def test_a_changed_byte_is_found(text, name, at):
    folder, _ = make_store(text, "train")
    data = bytearray((folder / name).read_bytes())
    data[at] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(BadInput, match=f"{name}: the checksum is wrong"):
        ContextStore.open(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_found(text, name):
    folder, _ = make_store(text, "train")
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-1])
    size = f"expected {len(data)} bytes, found {len(data) - 1}: the context store is truncated"
    with pytest.raises(BadInput, match=f"{name}: {size}"):
        ContextStore.open(folder)
    (folder / name).unlink()
    with pytest.raises(BadInput, match="found 0: the context store is truncated"):
        ContextStore.open(folder)


def change(folder, **changes):
    header = {**json.loads((folder / "store.json").read_text()), **changes}
    told = {name: value for name, value in header.items() if name not in ("format", "header_checksum")}
    (folder / "store.json").write_text(json.dumps({**header, "header_checksum": header_checksum(told)}))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"version": 4}, "expected a context store of version 3, found 4"),
        ({"text_bytes": -1}, "is not what ctxmt embed writes"),
        ({"format": "index"}, "is not what ctxmt embed writes"),
        ({"count": -1}, "is not what ctxmt embed writes"),
        ({"count": "8"}, "is not what ctxmt embed writes"),
        ({"dtype": "object"}, "is not what ctxmt embed writes"),
        ({"fields": 3}, "is not what ctxmt embed writes"),
        ({"splits": {"../x": {"sentences": 1, "digest": ""}}}, "is not what ctxmt embed writes"),
        ({"count": 0}, "holds no vector yet; run ctxmt embed again"),
        ({"dimension": 385}, "truncated"),
    ],
)
def test_a_header_that_cannot_be_right_is_refused(text, changes, message):
    folder, _ = make_store(text, "train")
    change(folder, **changes)
    with pytest.raises(BadInput, match=message):
        ContextStore.open(folder)


def test_what_is_no_store_and_what_is_another_corpus(text, caplog):
    with pytest.raises(BadInput, match="is no context store of ctxmt embed: found no store.json"):
        ContextStore.open(text)
    folder, _ = make_store(text, "train")
    with pytest.raises(BadInput, match="expected vectors of the encoder minilm, found discrete"):
        ContextStore.open(folder, encoder="minilm")
    with pytest.raises(BadInput, match="expected vectors of the dimension 768, found 384"):
        ContextStore.open(folder, dimension=768)
    store = ContextStore.open(folder)
    with pytest.raises(
        BadInput, match="has no contexts of the split test, only train; ctxmt embed adds them"
    ):
        store.split("test", 6)
    with pytest.raises(BadInput, match="expected contexts of 7 sentences .* found 6: .* another corpus"):
        store.split("train", 7)
    digest = store.header.splits["train"]["digest"]
    with pytest.raises(BadInput, match="the contexts of the split train were made from another text"):
        store.split("train", 6, digest[::-1])
    assert len(store.split("train", 6, digest).sentences) == 6
    known = store.header.splits["train"]["metadata_digest"]
    store.split("train", 6, digest, known)
    assert not caplog.records
    store.split("train", 6, digest, known[::-1])
    assert "of the split train were made from other metadata than the data folder has" in caplog.text
    (folder / "store.json").write_text("{")
    with pytest.raises(BadInput, match=r"store\.json:1: expected JSON"):
        read_header(folder)


# ---- refusals of the writer --------------------------------------------------------------------------------


def refused(root, message, splits=("train",), **options):
    with pytest.raises(BadInput, match=message):
        make_store(root, *splits, **options)
    assert not (root / "store").exists()


def test_text_that_is_not_the_data_folders_is_refused(text):
    write_lines(text / "train.en", ["Another cat.", *SENTENCES[1:]])
    refused(text, r"train\.en: is another text than the split train of .*data was made from")
    for suffix in ("en", "fr", "docids", "meta.jsonl"):
        lines = (text / f"train.{suffix}").read_text().splitlines()
        write_lines(text / f"train.{suffix}", lines[:5])
    refused(text, r"train\.en: expected the 6 sentences of the split train of .*data, found 5")
    refused(text, r"data: has no split test, only train, valid", ["test"])
    (text / "train.docids").unlink()
    refused(text, r"train\.docids: no such file; expected one document id per line")
    refused(text, "expected --train, --valid or --test", splits=[])


def test_a_data_folder_without_digests_is_compared_by_its_counts(text):
    path = data_folder(text) / "ctxmt.json"
    description = json.loads(path.read_text())
    del description["splits"]["train"]["source_digest"]
    path.write_text(json.dumps(description))
    write_lines(text / "train.en", ["Another cat.", *SENTENCES[1:]])
    make_store(text, "train")


def test_wrong_metadata_is_refused(text):
    refused(
        text,
        "--fields plot: the metadata has no such field, only genre, rating, formality",
        fields=["plot"],
    )
    refused(text, "nothing to embed", fields=[], sentences=False)
    write_lines(text / "train.meta.rating", ["R"] * 6)
    refused(text, r"train\.meta\.rating:1: the field rating is in train\.meta\.jsonl too")
    (text / "train.meta.rating").unlink()
    write_lines(text / "train.meta.plot", ["A plot."] * 5)
    refused(text, r"train\.meta\.plot:6: ends before the text does")
    write_lines(text / "train.meta.plot", ["A plot."] * 7)
    refused(text, r"train\.meta\.plot: goes on after the 6 lines of the text")
    (text / "train.meta.plot").unlink()
    write_lines(text / "train.meta.jsonl", ["{}"] * 5 + ['{"genre": "\\ud83d"}'])
    refused(text, r"train\.meta\.jsonl:6: expected text, found half a character")


def test_a_folder_that_holds_something_else_is_left_alone(text):
    (text / "store").mkdir()
    write_lines(text / "store" / "thesis.txt", ["precious"])
    with pytest.raises(BadInput, match="store: exists and is no context store of ctxmt embed"):
        make_store(text, "train")
    assert contents(text / "store") == {"thesis.txt": b"precious\n"}
    with pytest.raises(BadInput, match="cannot be made: File exists"):
        make_store(text, "train", out="train.en")
