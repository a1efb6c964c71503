"""Codes that are applied with a vocabulary, as subword-nmt recommends for codes of two languages."""

import io
import json
import logging
from collections import Counter

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.bpe_codes import load_codes
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.unknown_subwords import CUT
from tests.unit.corpora.test_preprocess import read_back, write

LINES = {
    "en": ["the cats see the dog", "the dog sees cats", "a cat", "the doge dines"] * 5,
    "fr": ["le chat voit le chien", "le chien dîne", "les chats dînent", "un chat"] * 5,
}
LETTERS = " ".join(f"{letter}q q{letter}" for letter in "acdeghilnostuvî")  # no codes have q, so letters stay
TEXT = {language: [*lines, LETTERS] for language, lines in LINES.items()}
TEST = {"en": ["the chat", "cats", "the doge"], "fr": ["le dog", "chats", "the cat"]}
THRESHOLD = 6


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """What a user has: codes and vocabularies of subword-nmt, dictionaries of text that was cut with both."""
    from subword_nmt.apply_bpe import BPE, read_vocabulary
    from subword_nmt.learn_bpe import learn_bpe

    root = tmp_path_factory.mktemp("given")
    with open(root / "codes", "w", encoding="utf-8") as output:
        learn_bpe(io.StringIO("\n".join(LINES["en"] + LINES["fr"])), output, 40)
    merges = (root / "codes").read_text(encoding="utf-8")
    cut = {}
    for language, lines in TEXT.items():
        counts = Counter(" ".join(map(BPE(io.StringIO(merges)).process_line, lines)).split())
        vocabulary = "".join(f"{piece} {count}\n" for piece, count in counts.items())
        (root / f"vocab.{language}").write_text(vocabulary, encoding="utf-8")
        library = BPE(io.StringIO(merges), vocab=read_vocabulary(io.StringIO(vocabulary), THRESHOLD))
        counts = Counter(" ".join(map(library.process_line, lines)).split())
        dictionary = "".join(f"{piece} {count}\n" for piece, count in counts.most_common())
        (root / f"dict.{language}.txt").write_text(dictionary, encoding="utf-8")
        cut[language] = [library.process_line(line).split() for line in TEST[language]]
    write(root / "train", **TEXT, docids=["1"] * 21)
    write(root / "test", **TEST, docids="112")
    return root, cut


def preprocess(root, out, *options, dictionaries=True):
    given = [f"--dict-source {root}/dict.en.txt --dict-target {root}/dict.fr.txt"] * dictionaries
    line = f"preprocess --source-lang en --target-lang fr --train {root}/train --test {root}/test --out {out}"
    main(" ".join([line, f"--bpe-codes {root}/codes", *given, *options]).split())


def unknown(data):
    return json.loads((data / "ctxmt.json").read_text())["splits"]["test"]["unknown"]


def vocabularies(root, threshold=THRESHOLD):
    files = f"--bpe-vocabulary-source {root}/vocab.en --bpe-vocabulary-target {root}/vocab.fr"
    return f"{files} --bpe-vocabulary-threshold {threshold}"


def test_the_pieces_are_those_of_subword_nmt_everywhere(given, tmp_path):
    root, cut = given
    preprocess(root, tmp_path / "data", vocabularies(root))
    assert unknown(tmp_path / "data") == {"en": 0, "fr": 0}
    line = f"preprocess --source-lang en --target-lang fr --test {root}/test --like {tmp_path}/data"
    main(f"{line} --out {tmp_path}/like".split())
    for folder in (tmp_path / "data", tmp_path / "like"):
        for language, rows in cut.items():
            assert read_back(folder, "test", language) == rows
            subwords = Subwords.load(folder, language)  # as ctxmt translate and fairseq-interactive read it
            assert [subwords.encode(line).split() for line in TEST[language]] == rows
            assert [subwords.decode(" ".join(row)) for row in rows] == TEST[language]
            copy = folder / f"bpe.{language}.vocabulary"
            assert copy.read_bytes() == (root / f"vocab.{language}").read_bytes()


def test_without_the_vocabulary_the_warning_names_it(given, tmp_path, caplog):
    root, _ = given
    with caplog.at_level(logging.WARNING):
        preprocess(root, tmp_path / "data")
    assert min(unknown(tmp_path / "data").values()) > 0
    messages = [record.getMessage() for record in caplog.records if "unknown" in record.getMessage()]
    assert messages and all(CUT in message for message in messages)


def test_the_dictionary_can_be_the_vocabulary(given, tmp_path):
    """It lacks the rare pieces, which is all that counts; it may mark symbols that are there twice."""
    root, _ = given
    own = f"--bpe-vocabulary-source {root}/dict.en.txt --bpe-vocabulary-target {root}/dict.fr.txt"
    preprocess(root, tmp_path / "data", own)
    assert unknown(tmp_path / "data") == {"en": 0, "fr": 0}
    (tmp_path / "dict").write_text("the 9\nthe 9 #fairseq:overwrite\n")
    bpe = load_codes(root / "codes", tmp_path / "dict")
    assert bpe.segment_tokens(["the", "cats"]) == ["the", "c@@", "a@@", "t@@", "s"]


@pytest.mark.parametrize(
    "vocabulary, threshold, message",
    [
        ("the\n", 0, ":1: expected a piece and its count on each line, found 'the'"),
        ("the 3\nca t 2\n", 0, ":2: expected a piece and its count"),
        ("the ³\n", 0, ":1: expected a piece and its count"),
        ("the 3\n", 4, ": expected a vocabulary, found no piece that occurs 4 times"),
        ("", 0, ": expected a vocabulary, found no piece"),
    ],
)
def test_what_is_no_vocabulary_is_refused(given, tmp_path, vocabulary, threshold, message):
    (tmp_path / "vocab").write_text(vocabulary)
    with pytest.raises(BadInput) as error:
        load_codes(given[0] / "codes", tmp_path / "vocab", threshold)
    assert str(error.value).startswith(f"{tmp_path / 'vocab'}{message}")


@pytest.mark.parametrize(
    "options, message",
    [
        ("--no-subwords --bpe-vocabulary {0}/vocab.en", "--bpe-vocabulary needs --bpe-codes"),
        ("--bpe-codes {0}/codes --bpe-vocabulary-threshold 3", "threshold needs --bpe-vocabulary"),
        (
            "--bpe-codes {0}/codes --bpe-vocabulary-source {0}/vocab.en",
            "give --bpe-vocabulary, or --bpe-vocabulary-source with --bpe-vocabulary-target",
        ),
    ],
)
def test_options_that_contradict_each_other(given, tmp_path, refusal, options, message):
    line = f"preprocess --source-lang en --target-lang fr --train {given[0]}/train --out {tmp_path}/data "
    assert message in refusal(main, (line + options.format(given[0])).split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "entry", [{"threshold": 1, "vocabulary": {"en": "../vocab"}}, {"vocabulary": {"en": "bpe.vocabulary"}}]
)
def test_a_damaged_entry_is_refused(given, tmp_path, entry):
    from ctxmt_fairseq.corpora.text_steps import TextSteps

    (tmp_path / "codes").write_bytes((given[0] / "codes").read_bytes())
    with pytest.raises(BadInput, match="ctxmt.json: text_steps, bpe: expected"):
        TextSteps.of_entries([{"step": "bpe", "codes": {"en": "codes"}, **entry}], tmp_path, "en")


def test_merges_a_thousand_deep_are_no_traceback(tmp_path):
    from ctxmt_fairseq.corpora.text_steps import BytePairs

    word = "".join(map(chr, range(0x4E00, 0x4E00 + 1200)))
    merges = [f"{word[:size]} {word[size]}" for size in range(1, len(word))]
    (tmp_path / "codes").write_text("\n".join(["#version: 0.2", *merges]), encoding="utf-8")
    (tmp_path / "vocab").write_text("x 1\n")
    with pytest.raises(BadInput, match="codes: cannot undo so many merges of a word: '一丁"):
        BytePairs(tmp_path / "codes", tmp_path / "vocab").apply(f"{word}b")
