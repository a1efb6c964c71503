"""A context store with damaged files: ``ctxmt embed`` says what is damaged, and makes only that anew."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.corpora import embed as embedding
from ctxmt_fairseq.corpora import store_writer
from ctxmt_fairseq.data.context_store import ContextStore
from ctxmt_fairseq.errors import BadInput
from tests.unit.context_stores import NotingEncoder, contents, make_store, write_split
from tests.unit.test_context_store import DISCRETE, shown
from tests.unit.test_output_files import largest_file
from tests.unit.test_store_interruption import snapshots

FILES = ["vectors.bin", "texts.txt", "texts.ends", "rows.crc", "train.index", "valid.index"]
SPLITS = ["train", "valid"]


@pytest.fixture
def text(tmp_path):
    write_split(tmp_path, "train")
    write_split(tmp_path, "valid", ["A cat.", "New."], [{"genre": "Drama"}, {}])
    return tmp_path


@pytest.fixture
def store(text):
    return make_store(text, *SPLITS)[0]


@pytest.fixture
def encoder(monkeypatch):
    noting = NotingEncoder()
    monkeypatch.setattr(embedding, "load_text_encoder", lambda *args: noting)
    return noting


def flip(folder, name, at):
    data = bytearray((folder / name).read_bytes())
    data[at] ^= 1
    (folder / name).write_bytes(data)


def whole(folder):
    """file -> content; of the header, in whichever order it says it."""
    return {**contents(folder), "store.json": json.loads((folder / "store.json").read_text())}


def meaning(folder):
    """split -> the texts of every sentence and field; every vector is checked to be its text's."""
    store = ContextStore.open(folder)
    found = {}
    for split, what in store.header.splits.items():
        contexts = store.split(split, what["sentences"])
        found[split] = shown(contexts)
        rows = np.concatenate([np.asarray(contexts.sentences), np.asarray(contexts.metadata).ravel()])
        rows = np.unique(rows[rows >= 0]).tolist()
        np.testing.assert_array_equal(contexts.vectors[rows], DISCRETE.encode(contexts.texts(rows)))
    return found


def test_a_damaged_vector_alone_is_embedded_anew(text, store, encoder, caplog):
    before, line = whole(store), 4 * 384
    for row in (1, 4):
        flip(store, "vectors.bin", row * line + 7)
    _, report = make_store(text, "train")
    assert encoder.asked == ["A cat.", "A dog."] and whole(store) == before
    assert report["mended"] == [f"{store}/vectors.bin is damaged", "2 of 9 vectors are embedded anew"]
    assert all(line in caplog.text for line in report["mended"])
    _, report = make_store(text, "train")
    assert report["mended"] == []


@pytest.mark.parametrize("name", ["texts.ends", "rows.crc", "train.index", "valid.index"])
@pytest.mark.parametrize("change", ["first", "last", "shorter", "missing"])
def test_what_follows_from_the_rest_is_made_anew_without_embedding(text, store, encoder, name, change):
    before, data = whole(store), (store / name).read_bytes()
    if change == "missing":
        (store / name).unlink()
    elif change == "shorter":
        (store / name).write_bytes(data[:-3])
    else:
        flip(store, name, 0 if change == "first" else -1)
    _, report = make_store(text, *SPLITS)
    assert encoder.asked == [] and whole(store) == before
    assert report["mended"][0] == f"{store}/{name} is damaged"


def test_a_damaged_text_is_lost_and_embedded_anew_where_it_is_met(text, store, encoder):
    before = meaning(store)
    flip(store, "texts.txt", (store / "texts.txt").read_bytes().index(b"Crime"))
    _, report = make_store(text, "train")
    assert encoder.asked == ["Crime"] and meaning(store) == before
    assert report["mended"] == [
        f"{store}/texts.txt is damaged",
        "1 of 9 texts are lost",
        "the split train is made anew as soon as its text is embedded",
    ]
    encoder.asked.clear()
    assert make_store(text, *SPLITS)[1]["mended"] == [] and encoder.asked == []


def test_a_split_that_cannot_be_made_anew_now_is_dropped_and_comes_back(text, store, encoder):
    before = meaning(store)
    flip(store, "texts.txt", (store / "texts.txt").read_bytes().index(b"New."))
    flip(store, "vectors.bin", -1)
    _, report = make_store(text, "train")
    assert meaning(store) == {"train": before["train"]}
    assert "the split valid is made anew as soon as its text is embedded" in report["mended"]
    make_store(text, "valid")
    assert meaning(store) == before and encoder.asked == ["New."]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(FILES), st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=4),
    st.sampled_from([None, *FILES]),
    st.floats(0, 1),
)
def test_any_damage_is_mended_or_refused(text, store, changes, shortened, length):
    files, before = contents(store), meaning(store)
    try:
        for name, place, bits in changes:
            data = bytearray((store / name).read_bytes())
            data[int(place * (len(data) - 1))] ^= bits
            (store / name).write_bytes(data)
        if shortened:
            data = (store / shortened).read_bytes()
            (store / shortened).write_bytes(data[: int(length * len(data))])
        try:
            make_store(text, *SPLITS)
        except BadInput as error:  # neither the texts nor where they end are left
            assert "texts.ends: damaged as texts.txt is: delete the store and embed again" in str(error)
        else:
            assert meaning(store) == before
    finally:
        shutil.rmtree(store)
        store.mkdir()
        for name, data in files.items():
            (store / name).write_bytes(data)


def test_killed_while_it_mends_at_any_moment(text, store, monkeypatch):
    before = meaning(store)
    flip(store, "texts.txt", (store / "texts.txt").read_bytes().index(b"Crime"))
    for name in ("vectors.bin", "texts.ends", "valid.index"):
        flip(store, name, 20)
    taken = snapshots(text, monkeypatch, *SPLITS)
    assert len(taken) > 20
    for folder in taken:
        make_store(text, *SPLITS, out=folder.name)
        assert meaning(folder) == before


def test_a_damaged_header_is_found(text, store):
    data = (store / "store.json").read_bytes()
    refused = 0
    for at in range(0, len(data), 7):
        changed = bytearray(data)
        changed[at] ^= 1
        (store / "store.json").write_bytes(changed)
        try:
            ContextStore.open(store)
        except BadInput:
            refused += 1
        else:
            assert not chr(data[at]).strip()  # white space between the entries
    assert refused > 100
    (store / "store.json").write_bytes(data.replace(b'"count": 9', b'"count": 8'))
    with pytest.raises(BadInput, match="store.json: the checksum is wrong: changed or damaged; delete"):
        make_store(text, "train")


def test_an_encoder_that_has_changed_mends_nothing(text, store, encoder, monkeypatch):
    flip(store, "vectors.bin", 7)
    before = contents(store)
    monkeypatch.setattr(NotingEncoder, "encode", lambda self, texts: -DISCRETE.encode(texts))
    with pytest.raises(BadInput, match="gives other vectors than when the store was made"):
        make_store(text, "train")
    assert contents(store) == before


def test_a_full_disk_is_one_line_and_the_next_run_goes_on(text, monkeypatch):
    monkeypatch.setattr(store_writer, "CHUNK", 2)
    with largest_file(4000), pytest.raises(BadInput, match="store: cannot be written: "):
        make_store(text, *SPLITS)
    make_store(text, *SPLITS)
    assert whole(text / "store") == whole(make_store(text, *SPLITS, out="uninterrupted")[0])


# ---- stores of the version before --------------------------------------------------------------------------


@pytest.fixture
def older(store):
    """The store as the version before wrote it; yields what it is now."""
    now = whole(store)
    header = json.loads((store / "store.json").read_text())
    del header["header_checksum"], header["text_bytes"], header["checksum"]["rows.crc"]
    (store / "store.json").write_text(json.dumps({**header, "version": 1}, indent=2))
    (store / "rows.crc").unlink()
    return now


def test_an_older_store_is_read_and_brought_up_to_date(text, older, store, encoder):
    assert list(meaning(store)) == SPLITS
    assert make_store(text, "train")[1]["mended"] == []
    assert whole(store) == older and encoder.asked == []


def test_an_older_store_tells_less_of_its_damage(text, older, store, encoder):
    flip(store, "vectors.bin", -1)
    make_store(text, "train")
    assert whole(store) == older and len(encoder.asked) == 8  # all but the empty text, which is not noted


@pytest.mark.parametrize("name", ["texts.txt", "texts.ends"])
@pytest.mark.parametrize("change", ["changed", "shorter"])
def test_an_older_store_without_its_texts_is_refused(text, older, store, name, change):
    if change == "changed":
        flip(store, name, 9)
    else:
        (store / name).write_bytes(older[name][:-1])
    before = contents(store)
    with pytest.raises(BadInput, match="damaged; of an older version, it cannot be mended: delete"):
        make_store(text, "train")
    assert contents(store) == before
