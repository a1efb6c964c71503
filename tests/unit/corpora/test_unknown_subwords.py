"""The warning of text that a vocabulary hardly knows."""

import logging
import random
from collections import Counter

import pytest
from fairseq.data import Dictionary

from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.unknown_subwords import (
    CAPITALS,
    LANGUAGE,
    SCRIPT,
    UNCUT,
    UNTOKENISED,
    count_unknown,
    likely_cause,
    warn_of_unknown,
)
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from tests.unit.corpora.test_preprocess import write

WORDS = "the cat dog sleeps barks at river in a green house , . it is asleep under old tree".split()
RUSSIAN = "кот спит на окне и собака лает у реки , . он не она дом старый зелёный".split()


@pytest.fixture(scope="module", params=["subwords", "words"])
def folder(request, tmp_path_factory):
    """A data folder of lower-cased, tokenised text."""
    return _folder(tmp_path_factory.mktemp(request.param), WORDS, request.param == "subwords")


@pytest.fixture(scope="module")
def russian(tmp_path_factory):
    return _folder(tmp_path_factory.mktemp("russian"), RUSSIAN, True)


def _folder(root, words, subwords):
    draw = random.Random(1)
    lines = [" ".join(draw.choices(words, k=8)) for _ in range(200)]
    text = write(root / "train", en=lines, fr=lines, docids=["1"] * 200)
    options = {"vocab_size": 44} if subwords else {"subwords": False}
    preprocess(Corpus("en", "fr", {"train": text}), Vocabulary(**options), root / "data")
    return root / "data"


def known_by(folder):
    return Subwords.load(folder, "en"), Dictionary.load(str(folder / "dict.en.txt"))


def cause(folder, *texts):
    subwords, dictionary = known_by(folder)
    total, unknown = count_unknown(texts, subwords, dictionary)
    assert 0 < unknown.total() <= total
    return likely_cause(unknown, subwords, dictionary)


def test_capitals(folder):
    assert cause(folder, "The cat sleeps .", "THE OLD DOG", "It barks .") == CAPITALS


def test_another_script(folder):
    assert cause(folder, "Кот спит на окне .", "собака") == SCRIPT


def test_capitals_that_are_rare(tmp_path):
    folder = _folder(tmp_path, [*WORDS, "It", "The"], True)
    assert cause(folder, "But the Zebra sleeps .") == LANGUAGE


def test_capitals_of_another_script(russian):
    assert cause(russian, "Кот спит .", "Собака лает .") == CAPITALS
    assert cause(russian, "THE WÜST") == SCRIPT


def test_untokenised_text(tmp_path):
    folder = _folder(tmp_path, WORDS, False)
    assert cause(folder, "the cat sleeps. it is old,", '"green house"', "It's asleep.") == UNTOKENISED


@pytest.mark.parametrize("symbols", [["▁the", "▁cat", "s"], ["the", "cat@@", "s"]])
def test_whole_words_of_a_folder_that_cuts_none(symbols):
    dictionary = Dictionary()
    for symbol in symbols:
        dictionary.add_symbol(symbol)
    for text, expected in (("the dogs .", UNCUT), (" ".join([*symbols, "▁barks"]), LANGUAGE)):
        _, unknown = count_unknown([text], Subwords(), dictionary)
        assert likely_cause(unknown, Subwords(), dictionary) == expected


def test_another_language(folder):
    assert cause(folder, "mój zażółcił gęślą jaźń") == LANGUAGE


def test_five_percent_are_no_matter(folder, caplog):
    subwords, dictionary = known_by(folder)
    with caplog.at_level(logging.WARNING):
        warn_of_unknown("test.en", 100, Counter({"THE": 5}), subwords, dictionary)
        assert not caplog.records
        warn_of_unknown("empty.en", 0, Counter(), subwords, dictionary)
        assert not caplog.records
        warn_of_unknown("test.en", 100, Counter({"▁THE": 4, "OLD": 2}), subwords, dictionary)
    (record,) = caplog.records
    assert record.getMessage().startswith("test.en: 6.0 % of the ")
    assert '(6 of 100: "THE", "OLD")' in record.getMessage() and CAPITALS in record.getMessage()


def test_preprocess_warns_of_test_splits_only(folder, tmp_path, caplog):
    lines = ["The CAT sleeps .", "IT barks at the dog ."]
    text = write(tmp_path / "t", en=lines, fr=[line.lower() for line in lines], docids="11")
    with caplog.at_level(logging.WARNING):
        splits = {"valid": text, "test": text, "test1": text}
        preprocess(Corpus("en", "fr", splits), Vocabulary(like=folder), tmp_path / "data")
    messages = [record.getMessage() for record in caplog.records if "unknown" in record.getMessage()]
    assert len(messages) == 2 and all(message.startswith(f"{text}.en: ") for message in messages)
