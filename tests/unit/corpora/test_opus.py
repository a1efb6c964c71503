"""OPUS' formats: documents, times, alignments, archives, and what they refuse."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora import archives
from ctxmt_fairseq.corpora.archives import Archives
from ctxmt_fairseq.corpora.formats.opus_xml import Link, read_links, read_opus_document
from ctxmt_fairseq.corpora.formats.subtitle_times import Marks, sentence_times
from tests.helpers.opus_files import alignment, document, sentence, write_folder, write_zip


def parse(*sentences):
    return read_opus_document(document(*sentences).encode(), "en/1.xml")


def test_tokenised_and_raw_text():
    tokenised = parse(sentence(1, "It 's a test ."), sentence(2, "Tom &amp; Ann"))
    assert tokenised.texts == ["It 's a test .", "Tom & Ann"] and tokenised.ids == ["1", "2"]
    assert tokenised.times is None
    raw = parse(sentence(1, "\n  It's a  <emphasis>real</emphasis> test.\n", 1, 2, raw=True))
    assert raw.texts == ["It's a real test."]
    assert (raw.times.starts[0], raw.times.ends[0], raw.times.interpolated) == (1, 2, 0)


@pytest.mark.parametrize("raw", [False, True])
def test_times_within_and_across_sentences(raw):
    read = parse(
        sentence(1, "One two", 5.897, 8.654, raw),
        sentence(2, "abcd", 10, None, raw, cue=2),  # its subtitle ends in the next sentence
        sentence(3, "abcd", None, 18, raw, cue=2),
        sentence(4, "no marks at all", raw=raw),
        sentence(5, "end", 30, 31, raw),
    )
    times = read.times
    assert times.starts[0] == 5.897 and times.ends[0] == 8.654
    assert times.starts[1] == 10 and times.ends[2] == 18
    # four of the nine places (8 characters, 1 between the sentences) after 10, and five
    assert times.ends[1] == pytest.approx(10 + 8 * 4 / 9)
    assert times.starts[2] == pytest.approx(10 + 8 * 5 / 9)
    assert 18 < times.starts[3] < times.ends[3] < 30
    assert times.interpolated == 3


def test_times_inside_a_sentence_and_unreadable_ones():
    text = document(
        '<s id="1"><time id="T1S" value="00:00:01,5"/><w>a</w><time id="T1E" value="00:00:02,250"/>'
        '<time id="T2S" value="00:00:03"/><w>b</w><time id="T2E" value="0:0:4.5"/></s>',
        '<s id="2"><time id="T3S" value="00:0x:07,000"/><w>c</w><time id="T3" value="00:00:09,000"/></s>',
        *(f'<s id="{n}"><time id="T3E" value="{"9" * n}:0:0"/><w>c</w></s>' for n in (400, 5000)),
    )
    read = read_opus_document(text.encode(), "en/1.xml")
    assert (read.times.starts[0], read.times.ends[0]) == (1.5, 4.5)
    assert read.unreadable_times == 4 and read.times.interpolated == 3


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.data())
def test_interpolated_times_lie_between_the_marks(lengths, data):
    marked = data.draw(st.sets(st.integers(0, len(lengths) - 1), min_size=1))
    marks = [
        mark
        for place in sorted(marked)
        for mark in ((place, 0, False, 10.0 * place), (place, lengths[place], True, 10.0 * place + 5))
    ]
    times = sentence_times(np.array(lengths), Marks(*map(np.array, zip(*marks, strict=True))))
    assert (np.diff(times.starts) >= 0).all() and (times.ends >= times.starts).all()
    assert times.interpolated == len(lengths) - len(marked)
    for place in marked:
        assert (times.starts[place], times.ends[place]) == (10 * place, 10 * place + 5)


def test_chapters_and_speakers_are_kept():
    text = (
        '<document><CHAPTER ID="2"><P id="1"><s id="1"><w>Title</w></s></P>'
        '<SPEAKER ID="3" NAME="President"><s id="2"><w>Thanks</w></s></SPEAKER></CHAPTER></document>'
    )
    read = read_opus_document(text.encode(), "en/1.xml")
    assert read.metadata == [{"chapter": "2"}, {"chapter": "2", "speaker": "President"}]


@pytest.mark.parametrize(
    "text, message",
    [
        ("<document><s id='1'>", r"en/1.xml:1: expected well-formed XML"),
        ("<document></document>", "found no sentences"),
        ("<document><s><w>a</w></s></document>", "the sentence has no id"),
        ("<document><s id='1'/><s id='1'/></document>", "two sentences have the same id"),
        ("<!DOCTYPE d [<!ENTITY a 'b'>]><document><s id='1'>&a;</s></document>", "declares entities"),
        ("<?xml version='1.0' encoding='klingon'?><d/>", "expected well-formed XML"),
    ],
)
def test_broken_documents(text, message):
    with pytest.raises(BadInput, match=message):
        read_opus_document(text.encode(), "en/1.xml")


LINKS = [("1;1", 0.95), ("2 3;2", 0.553), (";3", None), ("4;", None)]


def test_links_and_their_order(tmp_path):
    path = tmp_path / "de-en.xml"
    path.write_text(
        alignment(("de/1999/1/5.xml.gz", "en/1999/1/6.xml.gz", LINKS), ("de/a.xml", "en/b.xml", []))
    )
    first, second = read_links(path, "de", "en")
    assert (first.source, first.target) == ("de/1999/1/5.xml.gz", "en/1999/1/6.xml.gz")
    assert first.links == [
        Link(("1",), ("1",), 0.95), Link(("2", "3"), ("2",), 0.553), Link((), ("3",)), Link(("4",), ()),
    ]  # fmt: skip
    assert second.links == []
    exchanged, _ = read_links(path, "en", "de")
    assert (exchanged.source, exchanged.target) == ("en/1999/1/6.xml.gz", "de/1999/1/5.xml.gz")
    assert exchanged.links == [Link(link.target, link.source, link.overlap) for link in first.links]
    compressed = tmp_path / "de-en.xml.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_links(compressed, "de", "en")) == [first, second]


@pytest.mark.parametrize(
    "text, message",
    [
        (alignment(("de/1.xml", "fr/1.xml", [])), r":4: expected documents of de and en"),
        (alignment(("de/1.xml", "en/1.xml", [("1", 1)])), r":5: expected a link of two sides"),
        (alignment(("de/1.xml", "en/1.xml", [("1;1", "much")])), r":5: expected a number as overlap"),
        ("<cesAlign></cesAlign>", "found no <linkGrp>"),
        ("<cesAlign><link xtargets='1;1'/></cesAlign>", "found no <linkGrp>"),
        ("<cesAlign>", "expected well-formed XML: Premature end"),
        ("<!DOCTYPE d [<!ENTITY a 'b'>]><cesAlign><linkGrp/></cesAlign>", "declares entities"),
    ],
)
def test_broken_alignments(tmp_path, text, message):
    path = tmp_path / "alignment.xml"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        list(read_links(path, "de", "en"))


@pytest.mark.parametrize("headers", [{8: 99}, {6: 1}], ids=["compressed otherwise", "encrypted"])
def test_archives_that_zipfile_cannot_read(tmp_path, headers):
    """The same bytes in the header of the member and, two further on, in that of the directory."""
    path = Path(write_zip(tmp_path / "en.zip", {"en/1.xml": document(sentence(1, "a"))}))
    content = bytearray(path.read_bytes())
    for at, value in headers.items():
        content[at] = content[content.index(b"PK\1\2") + 2 + at] = value
    path.write_bytes(content)
    with pytest.raises(BadInput, match="1.xml: damaged: "):
        Archives([path]).read("en/1.xml")


def test_a_damaged_directory_of_an_archive_is_no_defect_of_the_program(tmp_path):
    """One of its bytes is another, whichever it is."""
    path = Path(write_zip(tmp_path / "en.zip", {"en/1.xml": document(sentence(1, "a"))}))
    content = path.read_bytes()
    said = set()
    for at in range(content.index(b"PK\1\2"), len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        try:
            Archives([path]).read("en/1.xml")
        except BadInput as error:
            said.add(str(error).rpartition(": ")[2])
    assert {"Bad magic number for central directory", "Invalid argument"} & said


def test_truncated_and_missing_files(tmp_path):
    whole = gzip.compress(alignment(("de/1.xml", "en/1.xml", LINKS * 200)).encode())
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match="cut.gz: damaged"):
        list(read_links(tmp_path / "cut.gz", "de", "en"))
    with pytest.raises(BadInput, match="no such file"):
        list(read_links(tmp_path / "none", "de", "en"))
    os.mkfifo(tmp_path / "pipe")  # without a writer: it would be waited for
    with pytest.raises(BadInput, match="^[^:]*pipe: expected a file"):
        list(read_links(tmp_path / "pipe", "de", "en"))
    with pytest.raises(BadInput, match="pipe: expected a folder or a zip file"):
        Archives([tmp_path / "pipe"])
    folder = write_folder(tmp_path / "xml", {"en/1.xml.gz": document(sentence(1, "a " * 500))})
    path = tmp_path / "xml" / "en" / "1.xml.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(BadInput, match="1.xml.gz: damaged"):
        Archives([folder]).read("en/1.xml.gz")


def test_archives(tmp_path, monkeypatch):
    texts = {"en/1999/1/5.xml.gz": "<a/>", "de/1999/1/6.xml.gz": "<b/>"}
    english, german = ({name: text} for name, text in texts.items())
    folder = write_folder(tmp_path / "OpenSubtitles" / "xml", english)
    packed = write_zip(tmp_path / "de.zip", german)
    for places in ([folder, packed], [tmp_path, packed]):
        both = Archives(places)
        assert [both.read(name) for name in texts] == [b"<a/>", b"<b/>"]
    with pytest.raises(BadInput, match="en/1999/2/5.xml: no such document in"):
        both.read("en/1999/2/5.xml")
    (tmp_path / "secret").write_text("<s/>")
    for name in ("../secret", "/etc/passwd", "en/../../secret", "", "en\\..\\x"):
        with pytest.raises(BadInput, match="expected the name of a document"):
            both.read(name)
    with pytest.raises(BadInput, match="expected a folder or a zip file"):
        Archives([tmp_path / "secret"])
    monkeypatch.setattr(archives, "LARGEST", 3)
    for name in texts:
        with pytest.raises(BadInput, match="expected a document of at most"):
            both.read(name)
