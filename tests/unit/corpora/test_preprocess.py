"""ctxmt preprocess: what a data folder holds, compared with the text it was made from."""

import json
import shutil
import subprocess
import sys
from collections import Counter

import pytest
from fairseq.data import Dictionary
from fairseq.data.indexed_dataset import make_dataset
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.preprocess import (
    Corpus,
    preprocess,
    statistics_table,
)
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from tests.helpers.preprocessed import ENGLISH, FRENCH, IDS, WORDS, corpus, write


@pytest.fixture
def text(tmp_path):
    return write(tmp_path / "train", en=ENGLISH, fr=FRENCH, docids=IDS)


def read_back(folder, split, language):
    """The binarised symbols of each sentence, the end symbol checked and cut."""
    dictionary = Dictionary.load(str(folder / f"dict.{language}.txt"))
    dataset = make_dataset(str(folder / f"{split}.en-fr.{language}"), "mmap")
    sentences = []
    for sentence in dataset:
        assert sentence[-1] == dictionary.eos() and dictionary.eos() not in sentence[:-1]
        sentences.append([dictionary[i] for i in sentence[:-1].tolist()])
    return sentences


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_words_come_back_and_counts_are_those_of_the_text(text, tmp_path):
    description = preprocess(corpus(text, test=text), WORDS, tmp_path / "data")
    folder = tmp_path / "data"
    for language, lines in (("en", ENGLISH), ("fr", FRENCH)):
        assert read_back(folder, "train", language) == [line.split() for line in lines]
        assert read_back(folder, "test", language) == [line.split() for line in lines]
        assert description["splits"]["train"]["tokens"][language] == len(" ".join(lines).split())
    assert (folder / "train.en-fr.docids").read_text() == "".join(x + "\n" for x in IDS)
    train = description["splits"]["train"]
    assert (train["sentences"], train["documents"], train["empty"]) == (6, 3, {"en": 1, "fr": 0})
    assert description["average_source_length"] == round(len(" ".join(ENGLISH).split()) / 6)
    assert json.loads((folder / "ctxmt.json").read_text()) == {"version": 1, **description}
    assert description["sentencepiece"] is None and description["joined_dictionary"]
    table = statistics_table(description).splitlines()
    assert len(table) == 6 and table[1].split() == [
        "train",
        "en",
        "6",
        "3",
        "16",
        "2.67",
        "0.00",
        "%",
        "1",
        "0.00",
        "%",
    ]


def test_dictionary_is_counted_sorted_and_ends_with_the_symbols(text, tmp_path):
    preprocess(corpus(text), Vocabulary(subwords=False, joint=False), tmp_path / "data")
    lines = (tmp_path / "data" / "dict.fr.txt").read_text().splitlines()
    expected = sorted(Counter(" ".join(FRENCH).split()).items(), key=lambda item: (-item[1], item[0]))
    assert lines[: len(expected)] == [f"{word} {count}" for word, count in expected]
    assert [line.split()[0] for line in lines[-2:]] == ["<sep>", "<mask>"]
    assert all(line.startswith("madeupword") for line in lines[len(expected) : -2])
    assert len(Dictionary.load(str(tmp_path / "data" / "dict.fr.txt"))) % 8 == 0
    assert "cat" not in [line.split()[0] for line in lines]


def test_joint_dictionary_counts_both_languages_and_a_limit_keeps_the_frequent(text, tmp_path):
    preprocess(corpus(text), Vocabulary(subwords=False, vocab_size=3), tmp_path / "data")
    counts = Counter(" ".join(ENGLISH + FRENCH).split())
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
    for language in ("en", "fr"):
        lines = (tmp_path / "data" / f"dict.{language}.txt").read_text().splitlines()
        assert lines[:3] == [f"{word} {count}" for word, count in best]
        assert all(line.startswith(("madeupword", "<sep>", "<mask>")) for line in lines[3:])
    description = json.loads((tmp_path / "data" / "ctxmt.json").read_text())
    known = {word for word, _ in best}
    unknown = sum(word not in known for word in " ".join(ENGLISH).split())
    assert description["splits"]["train"]["unknown"]["en"] == unknown


def test_the_binary_files_are_those_of_fairseq_preprocess(text, tmp_path):
    preprocess(corpus(text), WORDS, tmp_path / "data", workers=2)
    plain = write(tmp_path / "plain", en=[" ".join(line.split()) for line in ENGLISH], fr=FRENCH)
    stock_command = ["-m", "fairseq_cli.preprocess", "-s", "en", "-t", "fr", "--trainpref", plain]
    stock_command += [
        "--srcdict",
        tmp_path / "data" / "dict.en.txt",
        "--tgtdict",
        tmp_path / "data" / "dict.fr.txt",
    ]
    stock_command += ["--destdir", tmp_path / "stock"]
    subprocess.run([sys.executable, *map(str, stock_command)], check=True, capture_output=True)
    ours, stock = contents(tmp_path / "data"), contents(tmp_path / "stock")
    for name in set(stock) - {"preprocess.log"}:
        assert ours[name] == stock[name], name


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A larger text, its data folder with one subword model, and one with two."""
    root = tmp_path_factory.mktemp("learned")
    english = [
        f"{a} {b} number {i} !" for i in range(40) for a in ("green", "old") for b in ("houses", "cats")
    ]
    french = [line.replace("houses", "maisons").replace("green", "vertes d'été") for line in english]
    text = write(root / "train", en=english, fr=french, docids=[str(i // 8) for i in range(len(english))])
    preprocess(corpus(text), Vocabulary(vocab_size=40), root / "joint")
    preprocess(corpus(text), Vocabulary(vocab_size=50, joint=False, spm_type="bpe"), root / "separate")
    return root, text, english, french


@pytest.mark.parametrize("kind", ["joint", "separate"])
def test_subwords_come_back_as_the_text(learned, kind):
    root, _, english, french = learned
    description = json.loads((root / kind / "ctxmt.json").read_text())
    for language, lines in (("en", english), ("fr", french)):
        pieces = read_back(root / kind, "train", language)
        subwords = Subwords.load(root / kind, language)
        assert [subwords.decode(" ".join(line)) for line in pieces] == lines
        assert [subwords.encode(line).split() for line in lines] == pieces
        assert description["splits"]["train"]["unknown"][language] == 0
    mean = sum(map(len, read_back(root / kind, "train", "en"))) / len(english)
    assert description["average_source_length"] == round(mean)
    same = contents(root / kind)["dict.en.txt"] == contents(root / kind)["dict.fr.txt"]
    assert same == description["joined_dictionary"] == (kind == "joint")
    names = {"joint": ["spm.model"] * 2, "separate": ["spm.en.model", "spm.fr.model"]}[kind]
    assert list(description["sentencepiece"].values()) == names
    assert all((root / kind / name).is_file() for name in names)


def test_a_lost_model_is_missed(learned, tmp_path):
    folder = shutil.copytree(learned[0] / "separate", tmp_path / "data")
    (folder / "spm.en.model").unlink()
    assert Subwords.load(folder, "fr").cuts_words
    with pytest.raises(BadInput, match="spm.en.model: no such file"):
        Subwords.load(folder, "en")


def test_the_same_text_gives_the_same_folder(learned, tmp_path):
    root, text, *_ = learned
    preprocess(corpus(text), Vocabulary(vocab_size=40), tmp_path / "again", workers=2)
    assert contents(tmp_path / "again") == contents(root / "joint")


def test_given_models_and_a_folder_to_be_like(learned, tmp_path):
    root, text, *_ = learned
    given_model = str(root / "joint" / "spm.model")
    preprocess(corpus(text), Vocabulary(spm={"en": given_model, "fr": given_model}), tmp_path / "given")
    assert contents(tmp_path / "given") == contents(root / "joint")
    models = {x: str(root / "separate" / f"spm.{x}.model") for x in ("en", "fr")}
    preprocess(corpus(text), Vocabulary(spm=models, joint=False), tmp_path / "two")
    assert contents(tmp_path / "two") == contents(root / "separate")

    new = write(tmp_path / "new", en=["old cats 語語 !"], fr=["vieux"], docids=["x"])
    like = preprocess(Corpus("en", "fr", {"test": new}), Vocabulary(like=root / "joint"), tmp_path / "like")
    ours, theirs = contents(tmp_path / "like"), contents(root / "joint")
    assert all(ours[name] == theirs[name] for name in ("dict.en.txt", "dict.fr.txt", "spm.model"))
    assert like["joined_dictionary"] and like["splits"]["test"]["unknown"]["en"] == 1
    first = json.loads(theirs["ctxmt.json"])
    assert like["average_source_length"] == first["average_source_length"]


def test_symbols_outside_the_model_stay_out_of_the_dictionary(learned, tmp_path):
    root, *_ = learned
    text = write(tmp_path / "t", en=["old 語語 cats"], fr=["x"], docids=["1"])
    model = str(root / "joint" / "spm.model")
    description = preprocess(corpus(text), Vocabulary(spm={"en": model, "fr": model}), tmp_path / "data")
    assert description["splits"]["train"]["unknown"]["en"] == 1
    assert "語" not in (tmp_path / "data" / "dict.en.txt").read_text()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_pieces_of_any_text_hold_no_space_and_decode_stably(learned, text):
    subwords = Subwords.load(learned[0] / "joint", "en")
    pieces = subwords.encode(text)
    assert pieces == " ".join(pieces.split()) and "</s>" not in pieces.split()
    decoded = subwords.decode(pieces)
    assert subwords.decode(subwords.encode(decoded)) == decoded


@given(st.lists(st.sampled_from(["old", "green", "cats", "été", "houses", "13", "!"]), max_size=12))
def test_text_of_known_letters_comes_back(learned, words):
    subwords = Subwords.load(learned[0] / "joint", "fr")
    assert subwords.decode(subwords.encode(" \u00a0".join(words) + "\r")) == " ".join(words)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n")), min_size=1))
def test_odd_unicode_keeps_every_line(tmp_path_factory, lines):
    if any(symbol in line for line in lines for symbol in ("<sep>", "<mask>", "<s>", "</s>", "<pad>")):
        return
    root = tmp_path_factory.mktemp("odd")
    text = write(root / "t", en=lines, fr=lines, docids=["1"] * len(lines))
    description = preprocess(corpus(text), WORDS, root / "data")
    expected = [line.removeprefix("\ufeff") if number == 0 else line for number, line in enumerate(lines)]
    assert read_back(root / "data", "train", "fr") == [line.split() for line in expected]
    assert description["splits"]["train"]["sentences"] == len(lines)


@pytest.mark.parametrize("vocabulary", [WORDS, Vocabulary(vocab_size=40, spm_type="bpe")])
def test_text_that_reads_like_symbols_is_spelled_out_and_counted(text, tmp_path, caplog, vocabulary):
    write(text, en=["x <sep> y", "x<mask>", *ENGLISH[2:]], fr=["x", "y </s>", *FRENCH[2:]])
    preprocess(corpus(text), vocabulary, tmp_path / "data")
    assert f"<sep> or <mask> is read as text in 2 lines: {text}:1, {text}:2" in caplog.text
    (first, second, *_), (_, third, *_) = (read_back(tmp_path / "data", "train", x) for x in ("en", "fr"))
    if vocabulary is WORDS:
        assert (first, second, third) == (["x", *"<sep>", "y"], ["x<mask>"], ["y", *"</s>"])
    else:
        assert {"s", "e", "p"} <= set(first) and not {"<sep>", "<mask>", "</s>"} & {*first, *second, *third}


def test_current_and_metadata_travel(text, tmp_path):
    meta = ['{"speaker": "Zoé"}', "{}", "", "{}", "{}", '{"a": "\\u00e9"}']
    write(text, current=["0", "1", "1", "0", "1", "1"], meta__jsonl=meta, meta__year=["", "1999"] + [""] * 4)
    description = preprocess(corpus(text), WORDS, tmp_path / "data")
    assert (tmp_path / "data" / "train.en-fr.current").read_text().split() == ["0", "1", "1", "0", "1", "1"]
    lines = (tmp_path / "data" / "train.en-fr.meta.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(json.loads, lines)) == [{"speaker": "Zoé"}, {"year": "1999"}, {}, {}, {}, {"a": "é"}]
    assert description["splits"]["train"]["context_only"] == 2


def test_blank_lines_end_documents(tmp_path):
    text = write(tmp_path / "t", en=["", "a", "b", " ", "", "c", ""], fr=["", "x", "y", "", "", "z", ""])
    description = preprocess(corpus(text, blank_lines=True), WORDS, tmp_path / "data")
    assert (tmp_path / "data" / "train.en-fr.docids").read_text().split() == ["1", "1", "2"]
    assert read_back(tmp_path / "data", "train", "en") == [["a"], ["b"], ["c"]]
    assert description["splits"]["train"]["documents"] == 2


def test_returning_id_is_a_new_document_and_warned_about(tmp_path, caplog):
    text = write(tmp_path / "t", en=list("abcd"), fr=list("abcd"), docids=["1", "2", "1", "2"])
    description = preprocess(corpus(text), WORDS, tmp_path / "data")
    assert description["splits"]["train"]["documents"] == 4
    warnings = [record.getMessage() for record in caplog.records if "returns after" in record.getMessage()]
    assert len(warnings) == 1 and f"{text}.docids:3" in warnings[0]


def test_training_draws_a_sample_of_large_texts(monkeypatch):
    monkeypatch.setattr("ctxmt_fairseq.corpora.subwords.TRAINING_SENTENCES", 150)
    lines = [f"line number {i}" for i in range(400)]
    assert train_subwords(lines, 30) == train_subwords(iter(lines), 30)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_small_text_gets_the_most_pieces_that_it_carries(kind, tmp_path, caplog):
    """By default; a size that was asked for is refused with the one that fits."""
    lines = [f"the cat {word} on the mat" for word in ("sat", "ran", "slept", "stood")]
    text = write(tmp_path / "t", en=lines, fr=lines, docids=["1"] * 4)
    with pytest.raises(BadInput, match=r"at most (\d+) \(--vocab-size \1;") as refusal:
        preprocess(corpus(text), Vocabulary(vocab_size=500, spm_type=kind), tmp_path / "data")
    most = refusal.value.most
    preprocess(corpus(text), Vocabulary(spm_type=kind), tmp_path / "data")
    assert f"spm.model: {most} pieces, the most that the text carries" in caplog.text
    assert Subwords(tmp_path / "data/spm.model").processor.get_piece_size() == most
    with pytest.raises(BadInput, match=f"{most + 1} pieces"):
        preprocess(corpus(text), Vocabulary(vocab_size=most + 1, spm_type=kind), tmp_path / "more")
