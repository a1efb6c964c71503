"""Subtitles: one cue out for one cue in, its times and all else byte for byte."""

import gzip
import re

import pysubs2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.file_formats.subtitles import EMPTY, Subtitles
from tests.helpers.translated_files import ASS, FILM, translated


def test_a_film(tmp_path):
    sentences, text = translated(Subtitles, tmp_path / "a.srt", FILM)
    assert sentences == [["The cat that I saw yesterday is black.", "Isn't it?", "No.", "Yes!"], ["Later"]]
    assert text == FILM
    upper = translated(Subtitles, tmp_path / "a.srt", FILM, str.upper)[1]
    assert upper.lower() == FILM.lower() and "<i>" in upper.replace("<I>", "<i>")
    _, short = translated(Subtitles, tmp_path / "a.srt", FILM, lambda text: "Le chat")
    cues = [block.split("\r\n")[2:] for block in short.split("\r\n\r\n")]
    # The first sentence has two words for two cues; its second cue has the second sentence, too.
    assert cues[:2] == [["<i>Le</i>"], ["chat Le chat"]] and cues[2] == ["- Le chat", "- <b>Le chat</b>"]
    _, one = translated(Subtitles, tmp_path / "a.srt", FILM.replace(" Isn't it?", ""), lambda text: "Chat")
    assert one.split("\r\n\r\n")[1].endswith(f"\r\n{EMPTY}")


def cues(*times_and_texts):
    blocks = (
        f"00:00:{start:02},000 --> 00:00:{end:02},000\n{text}\n" for start, end, text in times_and_texts
    )
    return "\n".join(f"{number}\n{block}" for number, block in enumerate(blocks, 1))


def test_what_is_shown_at_once_or_before_is_another_sentence(tmp_path):
    for second, read in (
        ((1, 3, "where are we?"), [["the sign", "where are we?"]]),
        ((2, 4, "where are we?"), [["the sign where are we?"]]),
    ):
        assert translated(Subtitles, tmp_path / "a.srt", cues((1, 2, "the sign"), second))[0] == read
    back = cues((40, 42, "the sign"), (1, 3, "where are"), (3, 5, "we?"))
    assert translated(Subtitles, tmp_path / "a.srt", back)[0] == [["the sign"], ["where are we?"]]


def test_what_is_shown_for_long_ends_no_document(tmp_path):
    for film in (
        cues((1, 9, "- Did you see it?\n- It ran away."), (10, 12, "It was big.")),
        cues((1, 3, "Here we are."), (4, 50, "HOTEL"), (6, 8, "It is old."), (9, 10, "Yes.")),
    ):
        assert len(translated(Subtitles, tmp_path / "a.srt", film)[0]) == 1


@pytest.mark.parametrize(
    "text", ["C:\\Network\\new.", "If x < the limit and y > 5.", "He said ``yes'' and ``no''."]
)
def test_signs_that_are_text(tmp_path, text):
    film = cues((1, 2, text))
    assert translated(Subtitles, tmp_path / "a.srt", film) == ([[text]], film)


def test_no_blanks_come_between_words_that_have_none(tmp_path):
    film = "1\n00:00:01,000 --> 00:00:02,000\n今日は学校に\n行きました。コーヒー\n\n"
    film += "2\n00:00:02,100 --> 00:00:03,000\nが飲みたい。猫。\n"
    sentences, text = translated(Subtitles, tmp_path / "a.srt", film)
    assert sentences == [["今日は学校に行きました。", "コーヒーが飲みたい。", "猫。"]] and text == film


def test_sounds_and_songs_stand_alone(tmp_path):
    said = ["The cat that I", "[DOOR SLAMS]", "(sighs)", "♪ La la ♪", "♪ Lu lu ♪", "saw is", "black"]
    times = [f"00:00:0{at},000 --> 00:00:0{at},900" for at in range(len(said))]
    content = "\n".join(f"{time}\n{text}\n" for time, text in zip(times, said, strict=True))
    sentences, text = translated(Subtitles, tmp_path / "a.srt", content)
    assert sentences == [[*said[:5], "saw is black"]] and text == content


WORDS = st.lists(
    st.sampled_from(["a", "Bb.", "ccc,", "<i>d</i>", "e?", "--", "♪", "12", "中文。", "{\\an8}f"]), min_size=1
)
CUE = st.tuples(
    st.integers(0, 9000), st.integers(1, 3000), st.lists(WORDS.map(" ".join), min_size=1, max_size=3)
)


def timed(cues, ending):
    """The text of a file, and (start, end) of each cue in milliseconds."""
    point, times, blocks, now = "," if ending == "srt" else ".", [], [], 0
    for number, (pause, length, lines) in enumerate(cues, 1):
        start, end = now + pause, now + pause + length
        now = end
        times.append((start, end))
        stamps = (
            f"{t // 3600000:02}:{t // 60000 % 60:02}:{t // 1000 % 60:02}{point}{t % 1000:03}"
            for t in (start, end)
        )
        blocks.append("\n".join([str(number), " --> ".join(stamps), *lines]))
    return ("WEBVTT\n\nNOTE a\nb\n\n" if ending == "vtt" else "") + "\n\n".join(blocks) + "\n", times


@given(
    st.lists(CUE, min_size=1, max_size=6), st.sampled_from(["srt", "vtt"]), st.sampled_from(["\n", "\r\n"])
)
@settings(max_examples=200)
def test_as_many_cues_with_their_times_and_nothing_else_changes(tmp_path_factory, cues, ending, newline):
    content, times = timed(cues, ending)
    path = tmp_path_factory.getbasetemp() / f"film.{ending}"
    content = content.replace("\n", newline)
    for change in (str, lambda text: "Un.", lambda text: "x " * 40, lambda text: ""):
        _, text = translated(Subtitles, path, content, change)
        # An independent reader finds the same cues.
        read = pysubs2.SSAFile.from_string(text, format_=ending)
        assert [(event.start, event.end) for event in read] == times
        kept = [re.sub(r"<[^<>]*>|\{\\[^{}]*\}", "", "".join(part.split())) for part in (content, text)]
        assert change is not str or kept[0] == kept[1]
        for pattern in (r"<[^<>]*>", r"\{\\[^{}]*\}"):
            assert re.findall(pattern, text) == re.findall(pattern, content)
        rows = [
            [row for row in each.split(newline) if "-->" in row or row.isdecimal()]
            for each in (content, text)
        ]
        assert [row for row in rows[0] if "-->" in row] == [row for row in rows[1] if "-->" in row]


def test_substation_alpha(tmp_path):
    sentences, text = translated(Subtitles, tmp_path / "a.ass", ASS)
    assert sentences == [["Well, this is it.", "Bye."]] and text == ASS
    _, text = translated(Subtitles, tmp_path / "a.ass", ASS, lambda text: "Eh bien, le voilà")
    assert text.splitlines()[5].endswith(",,{\\an8}Eh {\\i1}bien, le{\\i0}\\Nvoilà")
    assert [event.plaintext for event in pysubs2.SSAFile.from_string(text, format_="ass")][
        -1
    ] == "Eh bien, le voilà"
    assert translated(Subtitles, tmp_path / "a.ass.gz", gzip.compress(ASS.encode()))[1] == ASS
    hard = translated(Subtitles, tmp_path / "a.ass", ASS.replace("Bye.", "Good\\hbye."), str.upper)
    assert hard[0][0][1] == "Good bye." and hard[1].endswith(",,GOOD BYE.\n")
    comment = ASS.replace("Bye.", "{a pun}Bye.")
    sentences, text = translated(Subtitles, tmp_path / "a.ass", comment)
    assert sentences[0][1] == "Bye." and text == comment


@pytest.mark.parametrize(
    ("ending", "text", "read", "put"),
    [
        ("vtt", "<i>It&#39;s 2 &lt; 3.</i>", "It's 2 < 3.", "<i>IT'S 2 &lt; 3.</i>"),
        ("vtt", "Rhythm & blues.", "Rhythm & blues.", "RHYTHM &amp; BLUES."),
        ("srt", "White &amp; red, R&B.", "White & red, R&B.", "WHITE &amp; RED, R&amp;B."),
        ("srt", "White & red.", "White & red.", "WHITE & RED."),
        ("ass", "White &amp; red.", "White &amp; red.", "WHITE &amp; RED."),
    ],
)
def test_character_references_are_read_and_written(tmp_path, ending, text, read, put):
    content = ASS.replace("Bye.", text) if ending == "ass" else timed([(0, 999, [text])], ending)[0]
    given, written = translated(Subtitles, tmp_path / f"a.{ending}", content, str.upper)
    assert given[0][-1] == read and put in written


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.srt", "1\n\nHello\n", "a.srt: expected subtitles, found no time of one"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n\xe9t\xe9\n".encode("latin-1"), "a.srt:3: is not UTF-8"),
        ("a.ass", "Dialogue: 0,0:00:01.00,0:00:02.00,x\n", "a.ass:1: expected a line Format"),
        ("a.ass", "Format: Start, End, Text\nDialogue: x,0:00:02.00,x\n", "a.ass:2: expected 3 fields"),
        ("a.vtt", "WEBVTT\0\n", "a.vtt:1: expected text, found NUL"),
    ],
)
def test_broken_subtitles(tmp_path, name, content, line):
    with pytest.raises(BadInput) as error:
        translated(Subtitles, tmp_path / name, content)
    assert line in str(error.value)


def test_lines_in_no_subtitle_are_named(tmp_path, caplog):
    content = "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\nlost\n2\n00:00:03,000 --> 00:00:04,000\nBye.\n"
    content += "\n3\n00:00:05,000 --> 00:00:06,000\n\n"  # an empty one
    _, text = translated(Subtitles, tmp_path / "a.srt", content, str.upper)
    assert (
        "lost\n2\n" in text and "1 lines belong to no subtitle, and stay as they are: line 5" in caplog.text
    )
