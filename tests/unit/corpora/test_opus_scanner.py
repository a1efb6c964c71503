"""OPUS' files are read by patterns where they are regular, and by lxml otherwise: nobody can tell which."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.formats import opus_xml
from ctxmt_fairseq.corpora.formats.opus_scanner import scan
from ctxmt_fairseq.corpora.formats.opus_xml import read_opus_document
from tests.helpers.opus_files import document, sentence

WORDS = [
    "a",
    "don't",
    "x.y",
    "Tom &amp; Ann",
    "&lt;i&gt;",
    "&amp;lt;",
    "é",
    "\u00a0b",
    "\U0001f600",
    ">",
    "",
    "é\n",
]
ODD = [
    "<!-- no -->", "<![CDATA[x]]>", "]]>", "&#65;", "&x;", "&amp", "\r", "\r\n", "\x01", "\x02", "\x0b",
    "\ufffe", "<x/>", "<p id='1'>", '<p id="2">', "</p>", '<SPEAKER NAME="A">', "</SPEAKER>", "<?x y?>",
    "text", "<", ">", '"', "<s/>", '<s id="">', '<s id="0">', '<s id="1">', "</s>", '<s id="9" a="b">',
    '<s id="8"/>', "<w>", "</w>", "<w>b</w>", '<w id="1">', '<w a="b" id="2">c</w>',
    '<w id="1" id="2">c</w>', '<w a="b" a="c" id="2">d</w>', '<w id="1"/>',
    '<time id="T7S" value="00:00:09,000" />', '<time id="T7E" value="00:00:09,5"/>',
    '<time id="" value="00:00:01,000"/>', '<time value="00:00:01,000" id="T1S"/>',
    '<time id="T1S" value="soon" />', "<time/>", "</document>", "<document>",
]  # fmt: skip
HEADS = [
    '<?xml version="1.0" encoding="utf-8"?>\n', "<?xml version='1.0' encoding='UTF-8'?>", "", "\ufeff",
    "\n", '<?xml version="1.0" encoding="iso-8859-1"?>', '<?xml version="1.0" encoding="klingon"?>',
    "<!DOCTYPE d>", '<!DOCTYPE d [<!ENTITY x "y">]>',
    '<!DOCTYPE d [<!ATTLIST time id CDATA "T1S" value CDATA "00:00:01,0">]>',
]  # fmt: skip


@st.composite
def documents(draw, odd):
    """Sentences as OPUS writes them, with ``odd`` things in between."""
    raw, timed = draw(st.booleans()), draw(st.booleans())
    words = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
    seconds = st.none() | st.floats(0, 30000)
    pieces = []
    for number in range(draw(st.integers(1, 5))):
        times = draw(st.tuples(seconds, seconds)) if timed else ()
        pieces.append(sentence(number + 1, draw(words), *times, raw=raw))
    text = draw(st.sampled_from(HEADS)) if odd else HEADS[0]
    text += '<document id="7">\n' + "\n".join(pieces) + "\n</document>\n"
    for _ in range(draw(st.integers(0, 3)) if odd else 0):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(ODD)) + text[place:]
    return text.encode()


@st.composite
def spoiled(draw, contents):
    """Bytes that are taken out, changed, or written twice."""
    content = draw(contents)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        new = draw(st.sampled_from([b"", b"\xff", b"\x00", b"<", b'"', b"\n", content[start:end] * 2]))
        content = content[:start] + new + content[end:]
    return content


def plain(read):
    """A document to compare."""
    times = read.times and [read.times.starts.tolist(), read.times.ends.tolist(), read.times.interpolated]
    marks = [column.tolist() for column in read.marks]
    return read._replace(lengths=read.lengths.tolist(), marks=marks), times


def read_both_ways(content):
    """What is read, or the refusal: with the patterns, and by lxml alone."""
    found = []
    for way in (opus_xml.scan, lambda _: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(opus_xml, "scan", way)
            try:
                found.append(plain(read_opus_document(content, "en/1.xml")))
            except BadInput as error:
                found.append(str(error))
    return found


@settings(max_examples=150, deadline=None)
@given(documents(odd=True) | spoiled(documents(odd=False)))
@example(b'<document><s id="1"><foo><s id="2">a</s></foo></s></document>')
@example(b'<document><s id="0"><foo><s id="2">a</s></foo></s></document>')
@example(b'<document><s id="1">a</s><!-- <s id="2">b</s> --></document>')
@example(b'<!DOCTYPE d [<!ATTLIST s id ID "x">]><document><s id=" 1">a</s></document>')
@example(b'<document><w id="1"><s id="1">a</s></w></document>')
@example(b'<document><s id="1"><w id="1">a\x01b</w></s></document>')
@example(b'<document><s id="1">a\x01b</s></document>')
@example(b'<document><s id="1">a\x02b</s></document>')
@example(b'<document><s id="1"><w id="1">a\x0bb</w></s></document>')
@example(b'<document><s id="1"><w id="1">a]]></w></s></document>')
@example(b'<document><s id="1"><w id="1">a</w><w id="\xef\xbf\xbe">b</w></s></document>')
@example(b'<document><s id="1"><w id="1">a<time id="T1S" value="00:00:01,000"/>b</w></s></document>')
@example(b'<document><s id="1"><w id="1">&amp;lt; &#65;</w></s></document>')
@example(b"<?xml version='1.0' encoding='iso-8859-1'?><document><s id='1'>\xc3\xa9</s></document>")
@example(b'<?xml version="1.0" encoding="iso-8859-1"?><document><s id="1">\xc3\xa9</s></document>')
@example(('<document><s id="1"><w id="1">' + "x" * 9000 + "</w></s></document>").encode())
def test_documents_are_the_same_by_patterns_and_by_lxml(content):
    patterns, lxml = read_both_ways(content)
    assert patterns == lxml


@settings(max_examples=60, deadline=None)
@given(documents(odd=False))
def test_regular_documents_do_not_need_lxml(content):
    assert scan(content) is not None
    patterns, lxml = read_both_ways(content)
    assert patterns == lxml


def test_what_real_subtitles_have_does_not_need_lxml():
    text = document(
        "<meta><source><year>2001</year></source></meta>",
        '<CHAPTER ID="1"><P id="1">' + sentence(1, "One two", 1, 2) + "</P>",
        '<s id="2">\n<w alternative="Inglaterra" id="2.1">INGLATERRA</w>\n<w id="2.2">é</w>\n'
        '<time id="T2S" value="00:00:05,250"/><time id="T2E" value="00:00:06,000" />\n<w id="2.3">x</w></s>',
        "</CHAPTER>",
    ).encode()
    assert scan(text) is not None
    read, lxml = read_both_ways(text)
    found, _ = read
    assert read == lxml and found.texts == ["One two", "INGLATERRA é x"]
    assert found.metadata == [{"year": "2001", "chapter": "1"}] * 2
