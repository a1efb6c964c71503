"""Talks and test sets: IWSLT's tags, SGM, XML, plain text; the files as they really are."""

import json
import re

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.formats.talks_and_sets import paired_files, read_segments, read_tagged_talks
from tests.helpers.corpus_files import convert

TAGS_EN = """<doc docid="1" genre="lectures">
<url>http://www.ted.com/talks/al_gore</url>
<keywords>talks, culture</keywords>
<speaker>Al Gore</speaker>
<talkid>1</talkid>
<title>Averting the climate crisis</title>
<description>TED Talk Subtitles &amp; Transcript</description>
 Thank you so much, Chris.
 R&amp;D &lt;3
   It's  a great honour.
</doc>
<doc docid="7" genre="lectures">
<url>http://www.ted.com/talks/other</url>
<talkid>7</talkid>
Hello.

World.
</doc>
"""
# The metadata differs in its lines; the talks' text does not.
TAGS_DE = (
    TAGS_EN.replace("<reviewer></reviewer>\n", "")
    .replace("<keywords>talks, culture</keywords>\n", "<translator>A B</translator>\n<reviewer></reviewer>\n")
    .replace(" Thank you so much, Chris.", " Vielen Dank, Chris.")
    .replace("It's  a great honour.", "Es ist eine Ehre.")
    .replace("Hello.\n\nWorld.", "Hallo.\nleer\nWelt.")
)


def sets(kind, text, name="tst2011", docid="779"):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<mteval>
<{kind} setid="iwslt2017-{name}" srclang="english"{' trglang="german"' * (kind == "refset")}>
<doc docid="{docid}" genre="lectures">
<url>http://www.ted.com/talks/x</url>
<talkid>{docid}</talkid>
<title>Tom & Ann</title>
<seg id="1">  {text}  </seg>
<seg id="2"></seg>
</doc>
</{kind}>
</mteval>
"""


def sgm(kind, texts, sysid="ref"):
    segments = "".join(f'<p>\n<seg id="{n}">{text}</seg>\n</p>\n' for n, text in enumerate(texts, 1))
    return (
        f'<{kind} setid="newstest2019" srclang="any">\n<doc sysid="{sysid}" docid="1012-bbc" genre="news" '
        f'origlang="en">\n{segments}</doc>\n</{kind}>\n'
    )


XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021"><collection id="general">
<doc origlang="en" id="d1" domain="news">
<src lang="en"><p><seg id="1">A &amp; B</seg><seg id="2">C</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">X</seg><seg id="2">Y</seg></p></ref>
<ref lang="de" translator="B"><p><seg id="1">XX</seg><seg id="2">YY</seg></p></ref>
<hyp system="S1" language="de"><p><seg id="1">Z</seg><seg id="2">Q</seg></p></hyp></doc>
<doc origlang="en" id="d2" testsuite="t"><src lang="en"><seg id="1">D</seg></src>
<ref lang="de" translator="A"><seg id="1">U</seg></ref>
<ref lang="de" translator="B"><seg id="1">UU</seg></ref>
<hyp system="S1"><seg id="1">V</seg></hyp></doc>
</collection></dataset>
"""


def test_comments_are_no_text_and_cdata_is():
    withdrawn = '<!-- <ref lang="de"><seg id="1">Not this.\n</seg></ref> -->'
    text = XML.replace("<ref", f"{withdrawn}<ref", 1).replace(
        "A &amp; B", "A <![CDATA[&amp; <b>]]> <!-- no -->B"
    )
    known, found = ([*read_segments(each, "x")] for each in (XML, text))
    assert found[0].text == "A &amp; <b> B"
    assert found[1:] == known[1:] and len(known) == 12
    for begin in ("<!-- ", "<![CDATA["):
        with pytest.raises(BadInput, match=re.escape(f"x:4: {begin.strip()} is not closed")):
            [*read_segments(XML.replace("C</seg>", f"{begin}C</seg>"), "x")]
        with pytest.raises(BadInput, match="is not closed"):  # at once, however many there are
            [*read_segments(begin * 200_000, "x")]


@pytest.fixture
def corpus(tmp_path):
    """``corpus(kind, {file: text}, options)``: source, target and ids of the lines that were written."""

    def make(kind, files, *options):
        columns, _ = convert(tmp_path, kind, files, *options)
        return list(zip(columns["en"], columns["de"], columns["docids"], strict=True))

    return make


SIDES = ("--source", "a", "--target", "b")


def test_talks_with_tags(corpus, tmp_path):
    assert corpus("ted", {"a": TAGS_EN, "b": TAGS_DE}, *SIDES) == [
        ("Thank you so much, Chris.", "Vielen Dank, Chris.", "1"),
        ("R&D <3", "R&D <3", "1"),
        ("It's a great honour.", "Es ist eine Ehre.", "1"),
        ("Hello.", "Hallo.", "7"),
        ("World.", "Welt.", "7/2"),  # an empty line between them was left out
    ]
    assert '"empty": 1' in (tmp_path / "out.counts.json").read_text()


def test_tags_in_capitals(corpus):
    files = {name: sgm(kind, ["One", "Two"]) for name, kind in (("a", "srcset"), ("b", "refset"))}
    capitals = {name: re.sub("</?[a-z]+", lambda tag: tag[0].upper(), text) for name, text in files.items()}
    assert corpus("wmt", capitals, *SIDES) == corpus("wmt", files, *SIDES)


def test_ids_that_never_end_take_no_hours():
    with pytest.raises(BadInput, match="has no talks"):
        read_tagged_talks("<talkid>" * 2**18, "a")


def metadata(folder):
    return [json.loads(line) for line in (folder / "out.meta.jsonl").read_text().splitlines()]


def test_what_talks_say_of_themselves(corpus, tmp_path):
    corpus(
        "ted",
        {"a": TAGS_EN, "b": TAGS_DE.replace("<talkid>7", "<speaker>A &amp; B</speaker>\n<talkid>7")},
        *SIDES,
    )
    first = {
        "genre": "lectures",
        "speaker": "Al Gore",
        "title": "Averting the climate crisis",
        "keywords": "talks, culture",
    }
    assert metadata(tmp_path) == [first] * 3 + [{"genre": "lectures", "speaker": "A & B"}] * 2
    old = "\n".join(line for line in TAGS_EN.splitlines() if "doc" not in line)
    del first["genre"]
    assert read_tagged_talks(old, "a").about == {"1": first, "7": {}}
    files = {"c": sets("srcset", "A <title>B</title>"), "d": sets("refset", "C")}
    assert corpus("ted", files, "--source", "c", "--target", "d")[0][0] == "A <title>B</title>"
    assert metadata(tmp_path)[0] == {"genre": "lectures", "title": "Tom & Ann"}


def test_what_test_sets_say_of_their_documents(corpus, tmp_path):
    corpus("wmt", {"a": sgm("srcset", ["a"]), "b": sgm("refset", ["b"])}, *SIDES)
    assert metadata(tmp_path) == [{"genre": "news", "origlang": "en"}]
    corpus("wmt", {"a": XML}, "--source", "a", "--target", "a")
    assert metadata(tmp_path) == [{"domain": "news", "origlang": "en"}] * 2 + [{"origlang": "en"}]
    names = {"names": "canary\tcanary\nnews\td1\n", "a": "x\na\n", "b": "x\nb\n"}
    corpus("wmt", names, *SIDES, "--docs", "names")
    assert metadata(tmp_path) == [{"domain": "news"}]


def test_talks_of_old_files_begin_with_their_address(tmp_path):
    old = "\n".join(line for line in TAGS_EN.splitlines() if "doc" not in line)
    texts = read_tagged_talks(old, "a").texts
    assert list(texts) == ["1", "7"] and list(texts["7"].values()) == ["Hello.", "", "World."]


def test_several_sets_have_ids_of_their_own(corpus):
    files = {}
    for name in ("tst2011", "tst2012"):
        files[f"{name}.en"] = sets("srcset", f"English & {name}", name)
        files[f"{name}.de"] = sets("refset", f"Deutsch {name}", name)
    sides = ("--source", "tst2011.en", "tst2012.en", "--target", "tst2011.de", "tst2012.de")
    assert corpus("ted", files, *sides) == [
        ("English & tst2011", "Deutsch tst2011", "iwslt2017-tst2011/779"),
        ("", "", "iwslt2017-tst2011/779"),
        ("English & tst2012", "Deutsch tst2012", "iwslt2017-tst2012/779"),
        ("", "", "iwslt2017-tst2012/779"),
    ]


def test_sgm(corpus):
    files = {
        "a": sgm("srcset", ["R & D, 3 < 4", "Two\n lines", ""]),
        "b": sgm("refset", ["F &amp; E", "Zwei", "x"]),
    }
    assert corpus("wmt", files, *SIDES) == [
        ("R & D, 3 < 4", "F & E", "newstest2019/1012-bbc"),
        ("Two lines", "Zwei", "newstest2019/1012-bbc"),
        ("", "x", "newstest2019/1012-bbc"),
    ]


@pytest.mark.parametrize(
    "options, target",
    [((), ["X", "Y", "U"]), (("--by", "B"), ["XX", "YY", "UU"]), (("--system", "S1"), ["Z", "Q", "V"])],
)
def test_xml_with_several_references_and_systems(corpus, options, target):
    rows = corpus("wmt", {"a": XML}, "--source", "a", "--target", "a", *options)
    assert rows == list(zip(["A & B", "C", "D"], target, ["d1", "d1", "d2"], strict=True))


def test_blank_lines_between_documents(corpus):
    files = {"a": "a\nb\n\n\nc\n\nd\n", "b": "A\nB\n \n\nC\nx\nD\n"}
    assert corpus("wmt", files, *SIDES, "--blank-lines") == [
        ("a", "A", "1"), ("b", "B", "1"), ("c", "C", "2"), ("d", "D", "2/2"),
    ]  # fmt: skip


def test_names_of_documents(corpus):
    files = {
        "a": "keep out\na\n\nc\n",
        "b": "keep out\nA\nB\nC\n",
        "names": "canary\tcanary\nnews\td1\nnews\td1\nx\td2\n",
    }
    assert corpus("wmt", files, *SIDES, "--docs", "names") == [
        ("a", "A", "d1"),
        ("", "B", "d1"),
        ("c", "C", "d2"),
    ]


@pytest.mark.parametrize(
    "files, options, message",
    [
        ({"a": TAGS_EN, "b": TAGS_DE.replace("leer\n", "")}, (), "7: its 2 segments are not the 3 of"),
        (
            {"a": TAGS_EN, "b": TAGS_DE.replace('docid="7"', 'docid="8"')},
            (),
            "lacks the document 7, which is in",
        ),
        ({"a": TAGS_EN.replace('docid="7"', 'docid="1"'), "b": TAGS_DE}, (), "the talk 1 is there twice"),
        ({"a": "Hello.\n", "b": TAGS_DE}, (), "a:1: the text is in no talk with an id"),
        ({"a": "", "b": TAGS_DE}, (), "has no talks"),
        ({"a": XML, "b": XML}, ("--by", "C"), "expected a translation by C, found A, B"),
        ({"a": sgm("srcset", ["a"]), "b": sgm("srcset", ["a"])}, (), "has no document with <ref>"),
        (
            {"a": sgm("srcset", ["a"]), "b": sgm("refset", ["a"])[:120]},
            (),
            "b:4: the file ends within a document",
        ),
        (
            {"a": sgm("srcset", ["a"]).replace('id="1"', ""), "b": sgm("refset", ["a"])},
            (),
            "its 1 segments are not the 1 of",
        ),
        (
            {"a": sgm("srcset", ["a</seg>"]), "b": sgm("refset", ["a"])},
            (),
            "a:4: expected <seg> and </seg> in turn",
        ),
        (
            {"a": sgm("srcset", ["a"]).replace("docid", "x"), "b": XML},
            (),
            "a segment is not in a document with an id",
        ),
        ({"a": "a\nb\n", "b": "A\n"}, ("--blank-lines",), "b: expected as many lines as"),
        ({"a": "a\n", "b": "A\n", "n": "news d1\n"}, ("--docs", "n"), "n:1: expected a domain, a tab"),
        ({"a": "a\n", "b": "A\n", "n": ""}, ("--docs", "n"), "n: expected as many lines as"),
    ],
)
def test_refusals(refusal, corpus, tmp_path, files, options, message):
    assert message in refusal(corpus, "wmt", files, *SIDES, *options)
    assert not list(tmp_path.glob("out*"))


def test_as_many_files_on_both_sides(refusal, corpus):
    files = {"a": TAGS_EN, "b": TAGS_DE}
    assert "--target: has 1 files, but --source has 2" in refusal(
        corpus, "ted", files, "--source", "a", "a", "--target", "b"
    )


def test_no_utf8(tmp_path):
    (tmp_path / "a").write_bytes(sgm("srcset", ["caf\u00e9"]).encode("latin-1"))
    (tmp_path / "b").write_text(sgm("refset", ["x"]))
    with pytest.raises(BadInput, match="a: expected UTF-8, found byte 0xe9"):
        list(paired_files([tmp_path / "a"], [tmp_path / "b"], ("en", "de")))
