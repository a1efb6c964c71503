"""Files that are translated as they are: one unit out for one unit in, all else byte for byte."""

import re

import pysubs2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.file_formats import (
    FileFormat,
    Reading,
    file_format,
    layout,
    register_file_format,
)
from ctxmt_fairseq.generation.file_formats import toolkit as toolkit_format
from ctxmt_fairseq.generation.file_formats.prose import Prose
from ctxmt_fairseq.generation.file_formats.subtitles import EMPTY, Subtitles
from ctxmt_fairseq.generation.file_formats.table import Table
from ctxmt_fairseq.generation.input_documents import Translated


def translated(kind, path, content, change=lambda text: text, score=None, **how):
    """The sentences by document, and the file with changed sentences."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    documents = kind(str(path), Reading(**how)).documents(("en", "fr"))
    found = [Translated(change(text), score) for text in documents.sentences]
    ids = documents.documents
    starts = [*ids.starts.tolist()]
    sentences = [documents.sentences[a:b] for a, b in zip(starts, starts[1:], strict=False)]
    return sentences, documents.render(documents, found)


# ---- sharing out ---------------------------------------------------------------------------------------


@given(st.text("ab 中\u00a0", max_size=30), st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_parts_are_the_text_and_as_many_as_asked_for(text, lengths):
    parts = layout.shared_out(text, lengths)
    assert len(parts) == len(lengths) and "".join("".join(parts).split()) == "".join(text.split())
    empty = [not part for part in parts]
    assert empty == sorted(empty) and sum(not each for each in empty) == min(
        len(lengths), len(layout.words_of(text))
    )


def test_parts_are_in_proportion():
    assert layout.shared_out("one two three four", [1, 1]) == ["one two", "three four"]
    assert layout.shared_out("one two three four", [3, 1]) == ["one two three", "four"]
    assert layout.shared_out("他们来了", [1, 3]) == ["他", "们来了"]


@given(
    st.lists(st.sampled_from(["a", "b", "%s", "{0}", "$x", "<b>", "&lt;"]), max_size=8),
    st.lists(st.sampled_from(["c", "%s", "{0}", "{1}", "<i>"]), max_size=8),
)
def test_placeholders_of_the_source_come_back_once_each(source, translation):
    text, changes = layout.with_kept(" ".join(source), " ".join(translation))
    wanted = sorted(word for word in source if word not in "ab")
    assert sorted(layout._KEPT.findall(text)) == wanted
    assert [word for word in text.split() if word == "c"] == [word for word in translation if word == "c"]
    if sorted(word for word in translation if word != "c") == wanted:
        assert changes == 0 and text == " ".join(translation)


@pytest.mark.parametrize("text", ["50 % de", "a%b", "5 $ or $ 6", "{ }", "100%", "x < y > z"])
def test_other_text_is_no_placeholder(text):
    assert layout._KEPT.findall(text) == [] or text == "x < y > z"


# ---- subtitles -----------------------------------------------------------------------------------------

FILM = """\ufeff1\r
00:00:01,000 --> 00:00:02,500 X1:5\r
<i>The cat that I\r
saw yesterday</i>\r
\r
2\r
00:00:02,600 --> 00:00:04,000\r
is black. Isn't it?\r
\r
3\r
00:00:04,100 --> 00:00:05,000\r
- No.\r
- <b>Yes!</b>\r
\r
4\r
00:00:05,100 --> 00:00:06,000\r
♪ ♪\r
\r
5\r
00:00:59,000 --> 00:01:01,000\r
Later\r
"""


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


ASS = """[Script Info]
Title: T

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,A,0,0,0,,{\\an8}Well, {\\i1}this{\\i0} is\\Nit.
Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Not shown.
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}
Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,Bye.
"""


def test_substation_alpha(tmp_path):
    sentences, text = translated(Subtitles, tmp_path / "a.ass", ASS)
    assert sentences == [["Well, this is it.", "Bye."]] and text == ASS
    _, text = translated(Subtitles, tmp_path / "a.ass", ASS, lambda text: "Eh bien, le voilà")
    assert text.splitlines()[5].endswith(",,{\\an8}Eh {\\i1}bien, le{\\i0}\\Nvoilà")
    assert [event.plaintext for event in pysubs2.SSAFile.from_string(text, format_="ass")][
        -1
    ] == "Eh bien, le voilà"


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
    _, text = translated(Subtitles, tmp_path / "a.srt", content, str.upper)
    assert (
        "lost\n2\n" in text and "1 lines belong to no subtitle, and stay as they are: line 5" in caplog.text
    )


@pytest.mark.timeout(60)
def test_hostile_lengths_take_no_quadratic_time():
    marks = "<i>" * 50_000
    text, found = layout.without(re.compile(layout.TAG), marks + "a b")
    assert layout.put_back(text * 10_000, found).startswith(marks)
    assert layout.with_kept("%s " * 20_000, "a")[1] == 20_000
    assert layout.with_kept("a", "%" + "0" * 100_000) == ("%" + "0" * 100_000, 0)
    assert len(layout.shared_out("a " * 50_000, [1] * 50_000)) == 50_000


# ---- tables and prose ----------------------------------------------------------------------------------


def test_a_table_gets_columns(tmp_path):
    content = "id\tsource\tdocument\r\n7\tHello. \td\u20281\r\n8\t\td1\r\n"
    sentences, text = translated(Table, tmp_path / "a.tsv", content, str.upper, 0.5)
    assert [len(each) for each in sentences] in ([1, 1], [2])
    rows = [
        "id\tsource\tdocument\ttranslation\tscore",
        "7\tHello. \td\u20281\tHELLO.\t0.5000",
        "8\t\td1\t\t0.5000",
    ]
    assert text == "".join(f"{row}\r\n" for row in rows)
    names = {"source": "a", "document": "b"}
    assert translated(Table, tmp_path / "a.tsv", "b\ta\n1\tx", **names)[1] == "b\ta\ttranslation\n1\tx\tx"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", "a.tsv:1: expected one column 'source'"),
        ("source\tdocument\nx\n", "a.tsv:2: expected 2 columns, found 1"),
        ("source\tdocument\nx\t \n", "a.tsv:2: expected a document's id"),
        ("source\tdocument\ttranslation\n", "a.tsv:1: rename the column 'translation'"),
    ],
)
def test_broken_tables(tmp_path, content, line):
    with pytest.raises(BadInput) as error:
        translated(Table, tmp_path / "a.tsv", content)
    assert line in str(error.value)


@given(st.text("aB.?! \n\t\u00a0中。♪1", max_size=60))
def test_prose_comes_out_as_it_went_in(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "prose.txt"
    sentences, text = translated(Prose, path, content)
    assert text == content and len(sentences) <= 1
    changed = translated(Prose, path, content, lambda text: f"[{text}]")[1]
    assert changed.replace("[", "").replace("]", "") == content
    assert all(re.search(r"\w", inside) for inside in re.findall(r"\[(.*?)\]", changed))


# ---- programs and pages --------------------------------------------------------------------------------

PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=3; plural=n;\\n"

#: a.c:1
#, c-format
msgid "Open %s now. It is old."
msgstr ""

msgid "one file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

msgid "Done"
msgstr "Fini"
"""
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en" target-language="fr" datatype="plaintext"><body>
<trans-unit id="1"><source>Hello <g id="1">big</g> world</source></trans-unit>
<trans-unit id="2"><source>Bye</source></trans-unit>
<trans-unit id="3"><source>Done</source><target>Fini</target></trans-unit>
</body></file></xliff>
"""
HTML = """<html lang="en"><body>
<p class="x">It is <b>old</b>. Cats &amp; dogs<br/>sleep.</p><script>var x = "a b";</script>
<img alt="A cat" src="c.png"></body></html>
"""
MD = "# A title\n\nIt is *old*, see [this page](http://x.y/a_b) and `code_x`.\n\n```\nno text\n```\n"


@pytest.fixture
def toolkit():
    pytest.importorskip("translate", reason="the extra files is not installed")
    return toolkit_format.Toolkit


def test_messages_of_programs(toolkit, tmp_path, caplog):
    sentences, text = translated(toolkit, tmp_path / "a.po", PO, lambda text: f"<{text}".replace("%s", ""))
    assert sentences == [["Open %s now.", "It is old.", "one file", "%d files"]]
    read = text.split("\n\n")
    assert "#, c-format, fuzzy" in read[1] and read[1].count("%s") == 2  # of the source, and put back
    assert [line for line in read[2].splitlines() if line.startswith("msgstr")] == [
        'msgstr[0] "<one file"', 'msgstr[1] "<%d files"', 'msgstr[2] "<%d files"'
    ]  # fmt: skip
    assert read[3].rstrip() == 'msgid "Done"\nmsgstr "Fini"' and "1 tags and placeholders" in caplog.text
    sentences, text = translated(toolkit, tmp_path / "a.xliff", XLIFF, str.upper)
    assert sentences == [["Bye"]] and 'state="needs-review-translation">BYE</target>' in text
    assert text.count("<target") == 2 and '<g id="1">big</g>' in text
    assert "a.xliff: 1 texts with elements in them are left as they are" in caplog.text


def test_pages(toolkit, tmp_path):
    sentences, text = translated(toolkit, tmp_path / "a.html", HTML, str.title)
    assert sentences == [["en", "It is old.", "Cats & dogs sleep.", "A cat"]]
    assert '<html lang="fr"' in text and 'var x = "a b"' in text and 'alt="A Cat" src="c.png"' in text
    assert '<p class="x">It Is <b>Old.</b> Cats &amp; Dogs <br />Sleep.</p>' in text
    sentences, text = translated(toolkit, tmp_path / "a.md", MD, lambda text: text.replace("old", "alt"))
    assert sentences == [["A title", "It is old, see this page and `code_x`."]]
    assert text == MD.replace("old*,", "alt,*")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.po", "msgid x\n"),
        ("a.xliff", "<xliff"),
        ("a.xliff", '<!DOCTYPE x [<!ENTITY a "b">]>\n<xliff>&a;</xliff>'),
    ],
)
def test_broken_messages(toolkit, tmp_path, name, content):
    with pytest.raises(BadInput, match=f"{name}: (is no|declares)"):
        translated(toolkit, tmp_path / name, content)


# ---- names ---------------------------------------------------------------------------------------------


def test_formats_by_name(monkeypatch):
    assert file_format("A.SRT") is Subtitles and file_format("x.tsv") is Table and file_format("x.en") is None
    with pytest.raises(BadInput, match="docx: files of the kind .docx are not read: save it as text"):
        file_format("x.docx")

    class Mine(FileFormat):
        def documents(self, languages):
            raise NotImplementedError

    monkeypatch.setattr("ctxmt_fairseq.generation.file_formats._FORMATS", {})
    assert register_file_format(".mine")(Mine) is Mine and file_format("x.mine") is Mine
