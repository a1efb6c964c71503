"""Voita et al.'s released corpora, and Europarl's text with tags."""

import gzip
import json

import pytest

from tests.helpers.corpus_files import convert

DAY_EN = """<CHAPTER ID=1>
Resumption of the session
<SPEAKER ID=1 NAME="President">
I declare resumed the session.
<P>
Please rise.

<CHAPTER ID="023">
Agenda
<SPEAKER ID=2 LANGUAGE="ES" NAME="Díez González">
One.
Two.
<SPEAKER ID=3>
Three & four < five.
"""
DAY_DE = """<CHAPTER ID="1">
Wiederaufnahme der Sitzungsperiode
<SPEAKER ID="1" NAME="Die Präsidentin">
Ich erkläre die Sitzung für wieder aufgenommen.
<P>
Bitte erheben Sie sich.
<CHAPTER ID="023">
Tagesordnung
<SPEAKER ID=2 NAME="Díez González">
Eins und zwei.
<SPEAKER ID="3">
Drei & vier < fünf.
"""


@pytest.fixture
def corpus(tmp_path):
    """``corpus(kind, options)``: columns of the lines that were written, and the counts."""

    return lambda kind, *options: convert(tmp_path, kind, {}, *options)


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def days(tmp_path):
    for side, text in (("en", DAY_EN), ("de", DAY_DE)):
        write(tmp_path / side / "ep-00-01-17.txt", text)
        write(tmp_path / side / "ep-00-01-18.txt", f"<CHAPTER ID=1>\n{side}\n")
    return "--source", tmp_path / "en", "--target", tmp_path / "de"


def test_europarl(corpus, days):
    columns, counts = corpus("europarl", *days)
    assert list(zip(*(columns[name] for name in ("en", "de", "docids")), strict=True)) == [
        ("Resumption of the session", "Wiederaufnahme der Sitzungsperiode", "ep-00-01-17/1"),
        (
            "I declare resumed the session.",
            "Ich erkläre die Sitzung für wieder aufgenommen.",
            "ep-00-01-17/1",
        ),
        ("Please rise.", "Bitte erheben Sie sich.", "ep-00-01-17/1"),
        ("Agenda", "Tagesordnung", "ep-00-01-17/23"),
        ("Three & four < five.", "Drei & vier < fünf.", "ep-00-01-17/23/2"),
        ("en", "de", "ep-00-01-18/1"),
    ]
    assert [json.loads(line) for line in columns["meta.jsonl"]] == [
        {}, {"speaker": "President"}, {"speaker": "President"}, {}, {}, {},
    ]  # fmt: skip
    dropped = {"in blocks of different lengths": 2, "tags": 7, "blank": 1}
    assert counts["left_out"] == dropped and counts["read"] == 16 == counts["kept"] + 10
    assert corpus("europarl", *days, "--workers", 2) == (columns, {**counts, "settings": counts["settings"]})


def test_a_chapter_that_comes_twice_is_two_documents(corpus, tmp_path):
    text = "<CHAPTER ID=6>\na\nb\n<CHAPTER ID=6>\nc\n"
    sides = [write(tmp_path / side / "d.txt", text) for side in ("en", "de")]
    columns, _ = corpus("europarl", "--source", sides[0], "--target", sides[1])
    assert columns["docids"] == ["d/6", "d/6", "d/6#2"]


def test_a_damaged_day_is_left_out(corpus, days, tmp_path):
    """Its lines are counted as far as it can be read."""
    packed = gzip.compress(b"<CHAPTER ID=1>\n" + b"A line.\n" * 9)
    (tmp_path / "en" / "ep-00-01-18.txt").write_bytes(packed[:-6])
    _, counts = corpus("europarl", *days, "--skip-broken")
    assert counts["left_out"]["in broken files"] in range(10) and counts["kept"] == 5
    assert "18.txt" in counts["broken"][0] and "damaged" in counts["broken"][0]


def test_europarl_refusals(corpus, days, tmp_path, refusal):
    def refused(*options):
        line = refusal(corpus, "europarl", *options)
        assert not list(tmp_path.glob("out*"))
        return line

    write(tmp_path / "de" / "ep-00-01-18.txt", "<CHAPTER ID=2>\nx\n")
    assert "18.txt: expected the chapters and speakers of" in refused(*days)
    day = "<CHAPTER ID=1>\n<SPEAKER ID={} NAME={}>\nx\n"
    for side, number in (("en", "02"), ("de", 3)):
        write(tmp_path / side / "ep-00-01-18.txt", day.format(number, side))
    assert "18.txt: expected the chapters and speakers of" in refused(*days)
    write(tmp_path / "en" / "ep-00-01-18.txt", "<CHAPTER ID=1>\nen\n")
    write(tmp_path / "de" / "ep-00-01-18.txt", "<TITLE>\nx\n")
    assert "18.txt:1: expected <CHAPTER>, <SPEAKER> or <P>, found <TITLE>" in refused(*days)
    write(tmp_path / "de" / "ep-00-01-18.txt", "\n<P>\n")
    assert "18.txt: has no text" in refused(*days)
    columns, counts = corpus("europarl", *days, "--skip-broken")
    assert counts["left_out"]["in broken files"] == 1 and len(columns["en"]) == 5
    for path in tmp_path.glob("out*"):
        path.unlink()
    (tmp_path / "de" / "ep-00-01-18.txt").unlink()
    assert "de: lacks the file ep-00-01-18.txt, which the other folder has" in refused(*days)


def test_sentences_with_their_context(corpus, tmp_path):
    context = write(tmp_path / "t" / "ctx", "Before.\n\n")
    source, target = (
        write(tmp_path / "t" / "src", "One.\nTwo.\n"),
        write(tmp_path / "t" / "dst", "Eins.\nZwei.\n"),
    )
    columns, counts = corpus("voita", "--context", context, "--source", source, "--target", target)
    assert columns == {
        "en": ["Before.", "One.", "Two."],
        "de": ["", "Eins.", "Zwei."],
        "docids": ["1", "1", "2"],
        "current": ["0", "1", "1"],
    }
    assert (counts["read"], counts["kept"], counts["unit"]) == (3, 3, "sentences")


@pytest.mark.parametrize("current, marks", [("all", None), ("last", ["0", "0", "1", "0", "1"])])
def test_joined_sentences(corpus, tmp_path, current, marks):
    source = write(tmp_path / "t" / "src", "a b _eos c _eos d\ne _eos f_eos\n")
    target = write(tmp_path / "t" / "dst", "A _eos B _eos C\nD _eos E\n")
    columns, _ = corpus("voita", "--current", current, "--source", source, "--target", target)
    assert columns["en"] == ["a b", "c", "d", "e", "f_eos"] and columns["de"] == ["A", "B", "C", "D", "E"]
    assert columns["docids"] == ["1", "1", "1", "2", "2"] and columns.get("current") == marks


def test_an_empty_sentence_takes_no_mark_of_its_end(corpus, tmp_path):
    sides = [write(tmp_path / "t" / side, f"{side} _eos _eos c _eos\n") for side in ("src", "dst")]
    columns, counts = corpus("voita", "--current", "all", "--source", sides[0], "--target", sides[1])
    assert columns["en"] == ["src", "c"] and counts["left_out"] == {"empty": 2}


def test_voita_refusals(corpus, tmp_path, refusal):
    source, target = write(tmp_path / "t" / "src", "a _eos b\nc\n"), write(tmp_path / "t" / "dst", "A\nB\n")
    for options, message in (
        (("--current", "all"), "dst:1: expected 2 sentences as in"),
        (("--context", write(tmp_path / "t" / "ctx", "a\n")), "ctx: expected as many lines as"),
        ((), "one of the arguments --context --current is required"),
    ):
        assert message in refusal(corpus, "voita", "--source", source, "--target", target, *options)
