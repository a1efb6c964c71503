"""``ctxmt corpus tmx``: units of a web crawl to documents by their addresses."""

import gzip
import tracemalloc
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.formats.tmx import Tmx
from tests.helpers.corpus_files import convert

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<tmx version="1.4">
 <header adminlang="en" srclang="en" o-tmf="PlainText" creationtool="tca" segtype="sentence"/>
 <body>
"""


def side(language, text, *pages, attribute="xml:lang"):
    pages = "".join(f'    <prop type="source-document">{escape(page)}</prop>\n' for page in pages)
    return f'   <tuv {attribute}="{language}">\n{pages}    <seg>{text}</seg>\n   </tuv>\n'


def tmx(*units):
    body = "".join(
        f'  <tu tuid="{number}">\n   <prop type="score-bicleaner">0.7</prop>\n{"".join(unit)}  </tu>\n'
        for number, unit in enumerate(units, 1)
    )
    return f"{HEAD}{body} </body>\n</tmx>\n"


def parts_of(path):
    return Tmx(source_lang="en", target_lang="de", out="unused", tmx=[path]).parts()


@pytest.fixture
def written(tmp_path):
    """``written(text, options)``: the lines of the corpus from a TMX file, and its counts."""

    def make(text, *options):
        files = {"crawl.tmx.gz": gzip.compress(text.encode())}
        columns, counts = convert(tmp_path, "tmx", files, "--tmx", "crawl.tmx.gz", *options)
        return list(zip(columns["en"], columns["de"], columns["docids"], strict=True)), counts

    return make


def test_blank_addresses_are_none(written):
    blank = side("en", "One", " "), side("de", "Eins", " ")
    lines, counts = written(tmx(blank, blank))
    assert lines == [("One", "Eins", "1"), ("One", "Eins", "2")]
    assert counts["remarks"]["pairs without address"] == 2


@pytest.mark.parametrize("skip", [(), ("--skip-broken",)])
def test_a_namespace_changes_nothing(written, skip):
    text = tmx(
        (side("en", "One <bpt i='1'>x</bpt>two<!-- no -->", "http://a"), side("de", "Eins", "http://a"))
    )
    lines, _ = written(text.replace("<tmx ", '<tmx xmlns="http://www.lisa.org/tmx14" '), *skip)
    assert lines == [("One two", "Eins", "http://a http://a")]


def test_units_that_are_left_out_take_no_memory(tmp_path):
    """However many there are one after the other."""
    french = side("en", "One", "http://a"), side("fr", "Un", "http://a")
    (tmp_path / "a.tmx").write_text(tmx(*[french] * 2000))
    list(parts_of(tmp_path / "a.tmx"))  # what is imported stays
    tracemalloc.start()
    (part,) = parts_of(tmp_path / "a.tmx")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert part.account.left_out == {"without one of the languages": 2000} and most < 200_000


def test_other_xml_is_refused_before_it_fills_the_memory(tmp_path):
    start = tmx((side("en", "a", "x"), side("de", "b", "y"))).removesuffix(" </body>\n</tmx>\n")
    for text in ("<root>\n", start):
        with open(tmp_path / "a.tmx", "w") as stream:
            stream.write(text)
            stream.writelines("<item>text</item>\n" for _ in range(2**17))
        with pytest.raises(BadInput, match="a.tmx: expected <tu> within 1048576 bytes"):
            list(parts_of(tmp_path / "a.tmx"))


def test_every_trap(written):
    lines, counts = written(
        tmx(
            # on two pages; the next pair shows which of them the document is of
            (
                side("en", "One &amp; all", "http://a/1", "http://a/2?x=1&y=2"),
                side("de", "Eins", "http://d/1"),
            ),
            (
                side("en", "Two", "http://a/2?x=1&y=2"),
                side("de", "  Zwei\n  Zeilen ", "http://d/1", "http://d/9"),
            ),
            # the target's page is another one: a document ends
            (side("en", "Three", "http://a/2?x=1&y=2"), side("de", "Drei", "http://d/3")),
            # the sides in the other order, languages with regions, the old attribute
            (
                side("de_AT", "Vier", "http://d/3"),
                side("EN-us", "Four", "http://a/2?x=1&y=2", attribute="lang"),
            ),
            # a hole in a document: no German
            (side("en", "Five", "http://a/2?x=1&y=2"), side("fr", "Cinq", "http://d/3")),
            (side("en", "Six", "http://a/2?x=1&y=2"), side("de", "Sechs", "http://d/3")),
            # formatting is no text, what it is around is
            (
                side("en", 'Se<bpt i="1">&lt;b&gt;</bpt><hi>ven</hi><ept i="1">&lt;/b&gt;</ept>', "http://b"),
                side("de", "Sieben", "http://e"),
            ),
            # without address; a first segment counts
            (side("en", "Eight"), side("de", "Acht", "http://e"), side("de", "Achtmal", "http://e")),
            (side("en", "Nine"), side("de", "Neun")),
            (side("en", "", "http://b"), side("de", "Leer", "http://e")),
        )
    )
    one, three, seven = "http://a/2?x=1&y=2 http://d/1", "http://a/2?x=1&y=2 http://d/3", "http://b http://e"
    assert lines == [
        ("One & all", "Eins", one),
        ("Two", "Zwei Zeilen", one),
        ("Three", "Drei", three),
        ("Four", "Vier", three),
        ("Six", "Sechs", f"{three}/2"),
        ("Seven", "Sieben", seven),
        ("Eight", "Acht", "4"),
        ("Nine", "Neun", "5"),
    ]
    assert (counts["read"], counts["kept"]) == (10, 8)
    assert counts["left_out"] == {"empty": 1, "without one of the languages": 1}
    assert counts["remarks"]["pairs without address"] == 2


def test_cleaning(written):
    lines, counts = written(
        tmx((side("en", "A &amp;amp; B", "a"), side("de", "C", "d"))), "--clean", "entities"
    )
    assert lines == [("A & B", "C", "a d")] and counts["remarks"]["cleaned: entities"] == 1


PAGES = st.lists(st.sampled_from("xyz"), max_size=3, unique=True)


@settings(max_examples=50)
@given(st.lists(st.tuples(PAGES, PAGES), min_size=1, max_size=12))
def test_documents_are_runs_with_a_common_page(tmp_path_factory, addresses):
    path = tmp_path_factory.mktemp("tmx") / "a.tmx"
    path.write_text(
        tmx(
            *(
                (side("en", f"s{number}", *here), side("de", f"t{number}", *there))
                for number, (here, there) in enumerate(addresses)
            )
        )
    )
    pairs = [pair for part in parts_of(path) for pair in part.pairs]
    assert [pair[:2] for pair in pairs] == [(f"s{number}", f"t{number}") for number in range(len(addresses))]
    documents = [[0]]
    for number in range(1, len(pairs)):
        if pairs[number].document == pairs[number - 1].document:
            documents[-1].append(number)
        else:
            documents.append([number])
    common = [
        [set.intersection(*(set(addresses[number][way]) for number in document)) for way in (0, 1)]
        for document in documents
    ]
    for document, sides in zip(documents, common, strict=True):
        assert all(sides) or len(document) == 1
        if all(sides):
            source, target = pairs[document[0]].document.split(" ")
            assert source in sides[0] and target in sides[1]
    for (document, sides), after in zip(zip(documents, common, strict=True), documents[1:], strict=False):
        assert not all(side & set(addresses[after[0]][way]) for way, side in enumerate(sides)), document


def test_refusals(tmp_path):
    good = tmx((side("en", "a", "x"), side("de", "b", "y")))
    bomb = '<!DOCTYPE tmx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    for text, message in (
        (good.replace("</seg>", "", 1), ":10: expected well-formed XML"),
        (good.replace("<tmx", f"{bomb}<tmx"), "declares entities"),
        ("<tmx></tmx>", "expected TMX, found no unit"),
        (good.replace("utf-8", "no-such"), "expected well-formed XML"),
        (good.replace(">a<", f">{'a' * (2**24 + 1)}<"), "expected well-formed XML: Resource limit exceeded"),
    ):
        (tmp_path / "bad.tmx").write_text(text)
        with pytest.raises(BadInput) as error:
            list(parts_of(tmp_path / "bad.tmx"))
        assert message in str(error.value) and "bad.tmx" in str(error.value)
    (tmp_path / "cut.tmx").write_bytes(gzip.compress(good.encode() * 50)[:-20])
    with pytest.raises(BadInput, match="cut.tmx: damaged|cut.tmx:.*well-formed"):
        list(parts_of(tmp_path / "cut.tmx"))
    with pytest.raises(BadInput, match="no such file"):
        list(parts_of(tmp_path / "none"))
    (tmp_path / "dtd.tmx").write_text(
        good.replace("<tmx", '<!DOCTYPE tmx SYSTEM "http://x/tmx14.dtd">\n<tmx')
    )
    (part,) = parts_of(tmp_path / "dtd.tmx")  # not followed
    assert len(part.pairs) == 1
