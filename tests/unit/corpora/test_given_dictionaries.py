"""Data folders with dictionaries that a model was trained with."""

import json
import logging

import pytest
from fairseq.data import Dictionary

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR
from tests.unit.corpora.test_preprocess import contents, read_back, write

ENGLISH, FRENCH, IDS = ["the cat", "it runs the cat"] * 2, ["le chat", "il court le chat"] * 2, "1122"
OWN = {"en": "the 9\ncat 5\nzebra 4\nruns 2\nit 1\nmadeupword0000 0\n", "fr": "le 9\nchat 8\ncourt 3\nil 1"}


@pytest.fixture
def text(tmp_path):
    for language, lines in OWN.items():
        (tmp_path / f"own.{language}").write_text(lines)
    return write(tmp_path / "text", en=ENGLISH, fr=FRENCH, docids=IDS)


def make(text, folder, out="data", **options):
    given = {x: str(folder / f"own.{x}") for x in OWN}
    vocabulary = Vocabulary(**{"subwords": False, "dictionaries": given, **options})
    return preprocess(Corpus("en", "fr", {"train": text}), vocabulary, folder / out)


def test_all_symbols_keep_their_numbers_and_ours_follow(text, tmp_path):
    description = make(text, tmp_path)
    for language, lines in OWN.items():
        own = Dictionary.load(str(tmp_path / f"own.{language}"))
        made = Dictionary.load(str(tmp_path / "data" / f"dict.{language}.txt"))
        assert made.symbols == [*own.symbols, SEPARATOR, MASK]
        assert description["given_symbols"][language] == len(own)
        assert (tmp_path / "data" / f"dict.{language}.txt").read_text().startswith(lines)
    assert not description["joined_dictionary"]
    assert read_back(tmp_path / "data", "train", "en") == [line.split() for line in ENGLISH]
    assert json.loads((tmp_path / "data" / "ctxmt.json").read_text())["given_symbols"] == {"en": 10, "fr": 8}


def test_one_dictionary_twice_is_joined(text, tmp_path):
    both = OWN["en"] + OWN["fr"] + "\n"
    (tmp_path / "both").write_text(both)
    (tmp_path / "copy").write_text(both)
    assert main(
        f"preprocess --source-lang en --target-lang fr --train {text} --no-subwords "
        f"--dict {tmp_path / 'both'} --out {tmp_path / 'data'}".split()
    ) == 0  # fmt: skip
    made = contents(tmp_path / "data")
    assert made["dict.en.txt"] == made["dict.fr.txt"] and b'"joined_dictionary": true' in made["ctxmt.json"]
    copies = {"en": str(tmp_path / "both"), "fr": str(tmp_path / "copy")}
    assert make(text, tmp_path, "again", dictionaries=copies)["joined_dictionary"]
    assert contents(tmp_path / "again") == made


def test_symbols_of_ours_that_are_there_stay_where_they_are(text, tmp_path):
    (tmp_path / "own.en").write_text("<mask> 3\n" + OWN["en"])
    make(text, tmp_path)
    made = Dictionary.load(str(tmp_path / "data" / "dict.en.txt"))
    assert made.index(MASK) == 4 and made.symbols[-1] == SEPARATOR and len(made) == 12


def test_what_fairseq_would_not_save_again_is_kept(text, tmp_path):
    (tmp_path / "own.fr").write_text("<unk> 7 #fairseq:overwrite\n" + OWN["fr"])
    make(text, tmp_path)
    made = Dictionary.load(str(tmp_path / "data" / "dict.fr.txt"))
    assert made.symbols[3:6] == ["<unk>", "<unk>", "le"] and made.symbols[-1] == MASK


def test_a_folder_like_it_has_the_same_dictionaries(text, tmp_path):
    make(text, tmp_path)
    like = {"like": tmp_path / "data", "dictionaries": {}}
    assert make(text, tmp_path, "like", **like)["given_symbols"] == {"en": 10, "fr": 8}
    first, second = contents(tmp_path / "data"), contents(tmp_path / "like")
    assert all(first[f"dict.{x}.txt"] == second[f"dict.{x}.txt"] for x in OWN)


def test_text_that_a_dictionary_lacks_is_warned_about_in_every_split(text, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        make(text, tmp_path)
        assert not caplog.records
        exchanged = {"en": str(tmp_path / "own.fr"), "fr": str(tmp_path / "own.en")}
        make(text, tmp_path, "wrong", dictionaries=exchanged)
    found = [record.getMessage() for record in caplog.records]
    assert len(found) == 2 and all("100.0 % of the words are unknown" in message for message in found)
    assert {message.split(":")[0] for message in found} == {f"{text}.en", f"{text}.fr"}


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "own.fr: no such file"),
        ("le 9\nle 8\n", "own.fr:2: the symbol le is there twice"),
        ("le\n", "own.fr:1: expected a symbol and its count"),
        ("le 9\n<s> 8\n", "own.fr:2: the symbol <s> is there twice"),
    ],
)
def test_what_is_no_dictionary_is_refused(content, message, text, tmp_path):
    (tmp_path / "own.fr").unlink()
    if content is not None:
        (tmp_path / "own.fr").write_text(content)
    with pytest.raises(BadInput, match=message):
        make(text, tmp_path)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("recorded", [["en"], {"en": "10"}, {"en": True}])
def test_a_record_that_is_none_is_refused(recorded, text, tmp_path):
    make(text, tmp_path)
    path = tmp_path / "data" / "ctxmt.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "given_symbols": recorded}))
    with pytest.raises(BadInput, match="given_symbols"):
        make(text, tmp_path, "like", like=tmp_path / "data", dictionaries={})
