"""BPE codes as a text step: what they do to words, which files are refused, and what follows them."""

import io
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.bpe_codes import load_codes
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_steps import BytePairs, TextSteps
from ctxmt_fairseq.corpora.unknown_subwords import CAPITALS
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from tests.unit.corpora.test_preprocess import contents, read_back, write

ENGLISH = ["the cat sees the dog .", "the cats see it , then", "", "the dog sleeps there ."] * 3
FRENCH = ["le chat voit le chien .", "les chats le voient , là", "vide", "le chien dort là ."] * 3
IDS = list("aaabbbcccddd")
MERGES = ["t h", "th e</w>", "c a", "ca t</w>", "l e</w>", "c h", "t s</w>", "ca ts</w>", "@ @", "é t"]
OLD = ["t h", "th e", "the </w>", "c a", "ca t", "cat </w>", "l e", "c h", "s </w>", "@ @", "é t", "t </w>"]
TEXTS = st.text("thecasl@é. \u00a0\u3000\t", max_size=20)


def codes(folder, kind="0.2"):
    """A file of merges as subword-nmt 0.2, 0.1 (with or without its first line), or fastBPE writes it."""
    merges = OLD if kind in ("0.1", "no version") else MERGES
    lines = [f"{merge} {90 - at}" for at, merge in enumerate(merges)] if kind == "fastBPE" else merges
    lines = [f"#version: {kind}", *lines] if kind in ("0.1", "0.2") else lines
    (folder / "codes").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return folder / "codes"


def pieces(word, merges, end_apart):
    """Sennrich et al. (2016), Figure 1: every merge in its turn, wherever its two symbols meet."""
    if len(word) == 1:
        return [word]
    symbols = [*word, "</w>"] if end_apart else [*word[:-1], word[-1] + "</w>"]
    for merge in merges:
        at = 0
        while at < len(symbols) - 1:
            if symbols[at : at + 2] == merge.split():
                symbols[at : at + 2] = ["".join(merge.split())]
            at += 1
    return [text for text in (symbol.removesuffix("</w>") for symbol in symbols) if text]


@pytest.mark.parametrize("kind", ["0.2", "fastBPE", "0.1", "no version"])
def test_words_are_cut_as_the_paper_cuts_them_and_come_back(kind, tmp_path):
    path = codes(tmp_path, kind)
    merges = [" ".join(line.split()[:2]) for line in path.read_text().splitlines() if line[0] != "#"]
    step = BytePairs(path)

    @given(TEXTS)
    def check(text):
        expected = [pieces(word, merges, kind in ("0.1", "no version")) for word in text.split()]
        marked = [[*(f"{piece}@@" for piece in word[:-1]), word[-1]] for word in expected]
        assert step.apply(text).split() == [piece for word in marked for piece in word]
        if "@" not in text:
            assert step.undo(step.apply(text)) == " ".join(text.split())

    check()
    assert step.apply("the cats") == ("the cats" if kind in ("0.2", "fastBPE") else "the cat@@ s")


WRONG = {
    "no line": ("", ": expected BPE codes, a merge on each line, found none"),
    "only the version": ("#version: 0.2\n\n", ": expected BPE codes, a merge on each line, found none"),
    "a later version": ("#version: 0.3\na b\n", ":1: expected BPE codes of version 0.1 or 0.2"),
    "one column": ("#version: 0.2\na b\nab\n", ":3: expected BPE codes, a merge on each line, found 'ab'"),
    "three columns with a version": ("#version: 0.2\na b 3\n", ":2: expected BPE codes, a merge"),
    "no count": ("a b 7\nc d x\n", ":2: expected BPE codes, a merge and its count on each line"),
    "a count that int() takes": ("a b ³\n", ":1: expected BPE codes"),
    "a blank line within": ("a b\n\nc d\n", ":2: expected BPE codes"),
    "two spaces": ("a  b\n", ":1: expected BPE codes"),
    "a dictionary": ("the 90\ncat 3\n<x> 2 #fairseq:overwrite\n", ":3: expected BPE codes"),
    "NUL": ("a b\nc \0\n", ":2: expected text, found a NUL byte"),
}


@pytest.mark.parametrize("content, message", WRONG.values(), ids=WRONG)
def test_what_are_no_codes_is_refused(content, message, tmp_path):
    (tmp_path / "codes").write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        load_codes(tmp_path / "codes")
    assert str(error.value).startswith(f"{tmp_path / 'codes'}{message}") and "\n" not in str(error.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """``data``: lower-cased text in pieces; ``text``, of which it was made, and ``codes``."""
    root = tmp_path_factory.mktemp("bpe")
    text = write(root / "text", en=[line.upper() for line in ENGLISH], fr=FRENCH, docids=IDS)
    main(f"preprocess --source-lang en --target-lang fr --train {text} --lowercase --bpe-codes "
         f"{codes(root, 'fastBPE')} --out {root / 'data'}".split())  # fmt: skip
    return root


def test_preprocess_cuts_the_text_and_counts_its_pieces(folder):
    data, step = folder / "data", BytePairs(folder / "codes")
    expected = {"en": ENGLISH, "fr": FRENCH}
    for language, lines in expected.items():
        assert read_back(data, "train", language) == [step.apply(line).split() for line in lines]
        subwords = Subwords.load(data, language)
        assert [subwords.decode(subwords.encode(line.upper())) for line in lines] == lines
        assert subwords.cuts_words and subwords.bare("ca@@") == "ca"
    description = json.loads((data / "ctxmt.json").read_text())
    steps = [{"step": "lowercase"}, {"step": "bpe", "codes": {"en": "bpe.codes", "fr": "bpe.codes"}}]
    assert description["text_steps"] == steps and description["sentencepiece"] is None
    assert "given_symbols" not in description
    assert (data / "bpe.codes").read_bytes() == (folder / "codes").read_bytes()  # as it was given


def test_a_folder_like_it_cuts_alike(folder, tmp_path):
    text = write(tmp_path / "t", en=["The CATS ."], fr=["<SEP> le"], docids=["1"])
    options = f"preprocess --source-lang en --target-lang fr --test {text} --like {folder / 'data'}"
    main(f"{options} --out {tmp_path / 'like'}".split())
    assert read_back(tmp_path / "like", "test", "en") == [["the", "cats", "."]]
    pieces = Subwords.load(tmp_path / "like", "fr").encode("<SEP> le")
    assert pieces == "<@@ s@@ e@@ p@@ > le"
    assert (tmp_path / "like" / "bpe.codes").read_bytes() == (folder / "codes").read_bytes()


def test_codes_of_each_language(tmp_path):
    text = write(tmp_path / "text", en=ENGLISH, fr=FRENCH, docids=IDS)
    given = {"en": str(codes(tmp_path))}
    (tmp_path / "other").write_text("d o\n", encoding="utf-8")
    given["fr"] = str(tmp_path / "other")
    preprocess(
        Corpus("en", "fr", {"train": text}),
        Vocabulary(bpe=given, joint=False, vocab_size=4),
        tmp_path / "data",
    )
    names = {"en": "bpe.en.codes", "fr": "bpe.fr.codes"}
    assert json.loads((tmp_path / "data" / "ctxmt.json").read_text())["text_steps"][0]["codes"] == names
    assert Subwords.load(tmp_path / "data", "en").encode("the dog") == "the d@@ o@@ g"
    assert Subwords.load(tmp_path / "data", "fr").encode("the dog") == "t@@ h@@ e do@@ g"
    kept = (tmp_path / "data" / "dict.en.txt").read_text().splitlines()
    assert sum(not line.startswith(("<", "madeupword")) for line in kept) == 4


@pytest.mark.parametrize(
    "named", [None, 3, "bpe.codes", {"fr": "bpe.codes"}, {"en": 1}, {"en": "../codes"}, {"en": ""}]
)
def test_entries_that_name_no_file_of_the_folder_are_refused(named, folder):
    with pytest.raises(BadInput, match=r"ctxmt.json: text_steps, bpe: expected|no such file|found a folder"):
        TextSteps.of_entries([{"step": "bpe", "codes": named}], folder / "data", "en")


def test_refused_codes_leave_nothing(folder, tmp_path, refusal):
    (tmp_path / "codes").write_text("a\n")
    options = (
        f"preprocess --source-lang en --target-lang fr --train {folder / 'text'} --out {tmp_path / 'new'}"
    )
    one = "give --bpe-codes, or --bpe-codes-source with --bpe-codes-target"
    for more, message in (
        (f"--bpe-codes {tmp_path / 'codes'}", "codes:1: expected BPE codes, a merge on each line, found 'a'"),
        (f"--bpe-codes {tmp_path / 'none'}", "none: no such file"),
        (f"--bpe-codes-source {folder / 'codes'}", one),
        (f"--bpe-codes {folder / 'codes'} --bpe-codes-target {folder / 'codes'}", one),
        (f"--bpe-codes {folder / 'codes'} --no-subwords", "give one of --spm, --bpe-codes"),
    ):
        assert message in refusal(main, f"{options} {more}".split())
        assert [path.name for path in tmp_path.iterdir()] == ["codes"]


def test_unknown_pieces_are_warned_about_with_their_cause(folder, tmp_path, caplog):
    path = codes(tmp_path)
    text = write(tmp_path / "t", en=ENGLISH, fr=FRENCH, docids=IDS)
    test = write(tmp_path / "test", en=["The CATS See"], fr=["le chat ."], docids=["1"])
    with caplog.at_level(logging.WARNING):
        splits = {"train": text, "test": test}
        given = {"en": str(path), "fr": str(path)}
        preprocess(Corpus("en", "fr", splits), Vocabulary(bpe=given), tmp_path / "data")
    (message,) = [record.getMessage() for record in caplog.records if "unknown" in record.getMessage()]
    assert message.startswith(f"{test}.en: ") and "of the subwords are unknown" in message
    assert CAPITALS in message


def test_the_library_itself_cuts_alike(tmp_path):
    """What subword-nmt learns and applies is what a data folder does."""
    from subword_nmt.apply_bpe import BPE
    from subword_nmt.learn_bpe import learn_bpe

    with open(tmp_path / "codes", "w", encoding="utf-8") as output:
        learn_bpe(io.StringIO("\n".join(ENGLISH)), output, 20)
    step = BytePairs(tmp_path / "codes")
    with open(tmp_path / "codes", encoding="utf-8") as merges:
        library = BPE(merges)
    for line in (*ENGLISH, *FRENCH):
        assert step.apply(line) == library.process_line(line)


def test_the_same_text_in_pieces_makes_the_same_folder(folder, tmp_path):
    """Codes are no more than a step: text that was cut before gives the same binary files."""
    step = BytePairs(folder / "codes")
    cut = {name: map(step.apply, lines) for name, lines in (("en", ENGLISH), ("fr", FRENCH))}
    text = write(tmp_path / "text", **cut, docids=IDS)
    preprocess(Corpus("en", "fr", {"train": text}), Vocabulary(subwords=False), tmp_path / "data")
    ours, same = contents(folder / "data"), contents(tmp_path / "data")
    for name in same.keys() - {"ctxmt.json"}:
        assert ours[name] == same[name], name
