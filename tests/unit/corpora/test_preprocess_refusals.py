"""ctxmt preprocess: every refusal names what is wrong, and leaves nothing behind."""

from pathlib import Path

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import parser
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from tests.helpers.preprocessed import ENGLISH, FRENCH, IDS, WORDS, corpus, write


@pytest.fixture
def text(tmp_path):
    return write(tmp_path / "train", en=ENGLISH, fr=FRENCH, docids=IDS)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


REFUSALS = {
    "target too short": ({"fr": FRENCH[:4]}, r"train\.fr: expected as many lines as"),
    "ids too short": ({"docids": IDS[:5]}, r"train\.docids: expected as many lines as"),
    "source too short": ({"en": ENGLISH[:1]}, r"train\.en: expected as many lines as"),
    "blank id": ({"docids": ["a", " ", "b", "b", "b", "c"]}, r"train\.docids:2: expected a document id"),
    "NUL": ({"en": ["x", "a\0b"] + ENGLISH[2:]}, r"train\.en:2: expected text, found a NUL byte"),
    "current": ({"current": ["1", "0", "2", "1", "1", "1"]}, r"train\.current:3: expected 0 or 1, found '2'"),
    "current too short": ({"current": ["1"]}, r"train\.current: expected as many lines as"),
    "metadata no object": (
        {"meta__jsonl": ["{}", "[]"] + ["{}"] * 4},
        r"train\.meta\.jsonl:2: expected a JSON",
    ),
    "metadata no string": (
        {"meta__jsonl": ['{"a": true}'] + ["{}"] * 5},
        r"train\.meta\.jsonl:1: expected a JSON",
    ),
    "metadata no JSON": ({"meta__jsonl": ["{}"] * 5 + ["{"]}, r"train\.meta\.jsonl:6: expected JSON: "),
    "metadata too long": (
        {"meta__jsonl": ["{}"] * 7},
        r"train\.meta\.jsonl: goes on after the 6 lines of the text",
    ),
    "no text": ({"en": [], "fr": [], "docids": []}, r"train\.en: expected text, found no line"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_bad_text_names_file_and_line_and_leaves_nothing(text, tmp_path, case):
    columns, message = REFUSALS[case]
    write(text, **columns)
    before = set(tmp_path.iterdir())
    with pytest.raises(BadInput, match=message):
        preprocess(corpus(text), WORDS, tmp_path / "data")
    assert set(tmp_path.iterdir()) == before


def test_a_name_that_reads_like_several_folders_is_refused(text, tmp_path):
    with pytest.raises(BadInput, match="a:b: : joins several folders: choose a name without it"):
        preprocess(corpus(text), WORDS, tmp_path / "a:b")
    assert not (tmp_path / "a:b").exists()


def test_more_refusals(text, tmp_path):
    def refused(message, text_corpus=None, vocabulary=WORDS):
        before = set(tmp_path.iterdir())
        with pytest.raises(BadInput, match=message):
            preprocess(text_corpus or corpus(text), vocabulary, tmp_path / "data")
        assert set(tmp_path.iterdir()) == before

    blank = write(tmp_path / "b", en=["a", "", "b"], fr=["a", "b", "b"])
    refused(r"b\.docids: no such file; expected one document id per line .*records --blank", corpus(blank))
    refused(r"b\.en\.en: no such file", corpus(f"{blank}.en"))  # a file in place of the prefix
    refused(r"b\.en:2: blank, but b\.fr is not", corpus(blank, blank_lines=True))
    refused(r"--blank-lines does not work with train\.docids", corpus(text, blank_lines=True))
    refused("expected two languages, found en twice", Corpus("en", "en", {"train": text}))
    refused("expected --train, --valid or --test", Corpus("en", "fr", {}))
    refused("expected --train, or --like", Corpus("en", "fr", {"test": text}))
    refused("is no data folder of ctxmt preprocess", vocabulary=Vocabulary(like=str(tmp_path)))
    preprocess(corpus(text), WORDS, tmp_path / "other")
    other = Vocabulary(like=tmp_path / "other")
    refused("has the languages en-fr, not fr-en", Corpus("fr", "en", {"test": text}), other)
    refused(
        r"no subword model of 5000 pieces from this text: it carries at most \d+ "
        r"\(--vocab-size \d+; --spm-type bpe .*--no-subwords",
        vocabulary=Vocabulary(vocab_size=5000),
    )
    refused(r"\(--vocab-size \d+; --no-subwords", vocabulary=Vocabulary(vocab_size=5000, spm_type="bpe"))
    wrong = {"en": f"{text}.en", "fr": f"{text}.en"}
    refused(r"train\.en: is no SentencePiece model", vocabulary=Vocabulary(spm=wrong))
    Path(f"{text}.fr").write_bytes(b"caf\xe9\n" * 6)
    refused(r"train\.fr:1: expected UTF-8, found byte 0xe9")
    Path(f"{text}.fr").unlink()
    refused(r"train\.fr: no such file")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--spm", "m", "--no-subwords"], "give one of --spm"),
        (["--spm-source", "m"], "give --spm, or --spm-source with --spm-target"),
        (["--like", "d", "--vocab-size", "5"], "--like takes its whole vocabulary from DATA"),
        (["--like", "d", "--dict", "f"], "--like takes its whole vocabulary from DATA"),
        (["--dict", "f", "--no-subwords", "--joint"], "--dict is the whole vocabulary: leave out --joint"),
        (["--dict", "f"], "--dict: say how its subwords are made"),
        (["--dict-target", "f", "--no-subwords"], "give --dict, or --dict-source with --dict-target"),
    ],
)
def test_contradicting_options_are_refused(tmp_path, options, message):
    request = ["--source-lang", "en", "--target-lang", "fr", "--train", "x", "--out", str(tmp_path / "data")]
    with pytest.raises(BadInput, match=message):
        parser().command(["preprocess", *request, *options]).start()
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_replaced_only_if_ours_and_wished(text, tmp_path):
    other = tmp_path / "data"
    other.mkdir()  # an empty folder may be filled
    preprocess(corpus(text), WORDS, other)
    before = contents(other)
    with pytest.raises(BadInput, match="--overwrite replaces it"):
        preprocess(corpus(text), WORDS, other)
    assert contents(other) == before
    preprocess(corpus(text, test=text), WORDS, other, overwrite=True)
    assert set(contents(other)) > set(before)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("precious")
    with pytest.raises(BadInput, match="no data folder"):
        preprocess(corpus(text), WORDS, foreign, overwrite=True)
    assert contents(foreign) == {"thesis.txt": b"precious"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["spm.model", "truecase.en"])
def test_what_cuts_text_is_that_of_the_folder(text, tmp_path, name):
    """Another model's pieces are in the dictionary, too, for the most part."""
    for folder, english in (("data", ENGLISH), ("other", ["see The Cat", *ENGLISH[1:]])):
        write(text, en=english)
        preprocess(corpus(text), Vocabulary(vocab_size=36, learn_truecase=True), tmp_path / folder)
    like = Vocabulary(like=tmp_path / "data")
    preprocess(corpus(text), like, tmp_path / "like")
    (tmp_path / "data" / name).write_bytes((tmp_path / "other" / name).read_bytes())
    with pytest.raises(BadInput, match=f"{name}: changed since ctxmt preprocess wrote it"):
        preprocess(corpus(text), like, tmp_path / "again")
    with pytest.raises(BadInput, match=f"{name}: changed since ctxmt preprocess wrote it"):
        Subwords.load(tmp_path / "data", "en")
    Subwords.load(tmp_path / "like", "en")
