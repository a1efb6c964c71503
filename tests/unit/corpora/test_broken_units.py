"""``--skip-broken``: whatever a reader reads, the smallest broken unit is left out, and counted."""

import time

import pytest

from tests.unit.corpora.test_aligned_documents import sets, sgm
from tests.unit.corpora.test_corpus_languages import corpus, talk  # noqa: F401
from tests.unit.corpora.test_corpus_tmx import side, tmx


def unit(number, english="One"):
    return side("en", f"{english} {number}", "http://a"), side("de", f"Eins {number}", "http://b")


GOOD = [("One 1", "Eins 1"), ("One 3", "Eins 3")]


BROKEN = [
    (encoding, broken, error)
    for encoding in ("utf-8", "utf-16")
    for broken, error in (
        ("&#x1F; a", "xmlParseCharRef"),
        ("\x1f a", "PCDATA invalid Char value 31"),
        ("caf\udce9", "expected well-formed XML"),
        ("&nbsp;", "Entity 'nbsp' not defined"),
        ("a <3 b", "StartTag: invalid element name"),
        ("a & b", "xmlParseEntityRef"),
        ("</seg>", "tag mismatch"),
        ("</tuv></tu>", "expected well-formed XML"),
        ("<tu >", "expected </tu>, found <tu>"),
    )
    if encoding == "utf-8" or "\udce9" not in broken
]


@pytest.mark.parametrize("encoding, broken, error", BROKEN)
def test_a_unit_of_tmx(corpus, capsys, broken, error, encoding, refusal):  # noqa: F811
    text = tmx(unit(1), unit(2, broken), unit(3)).replace("utf-8", encoding)
    files = {"a.tmx": text.encode(encoding, "surrogateescape")}
    assert "a.tmx:" in refusal(corpus, "tmx", files, "--tmx", "a.tmx")
    found, counts = corpus("tmx", files, "--tmx", "a.tmx", "--skip-broken")
    assert found == GOOD and error in counts["broken"][0] and "a.tmx:1" in counts["broken"][0]
    assert counts["read"] - counts["kept"] == counts["left_out"]["in broken units"] == len(counts["broken"])
    assert "left out, in broken units" in capsys.readouterr().out


def test_units_of_many_blocks_are_read_alike(corpus, monkeypatch):  # noqa: F811
    from ctxmt_fairseq.corpora import xml

    text = tmx(*(unit(number) for number in range(40)))
    expected = corpus("tmx", {"a.tmx": text}, "--tmx", "a.tmx")[0]
    monkeypatch.setattr(xml, "_BLOCK", 7)
    assert corpus("tmx", {"a.tmx": text}, "--tmx", "a.tmx", "--skip-broken")[0] == expected


def test_a_file_that_ends_too_soon_is_refused_all_the_same(corpus, refusal):  # noqa: F811
    text = tmx(unit(1), unit(2))
    for end in range(text.index("One 2"), text.rindex("</tu>"), 9):
        assert "the file ends within an element" in refusal(
            corpus, "tmx", {"a.tmx": text[:end]}, "--tmx", "a.tmx", "--skip-broken"
        )


def test_units_in_comments_are_none(corpus, refusal):  # noqa: F811
    text = tmx(unit(1), unit(7), unit(8), unit(3), unit(9))
    for number, sign in ((1, "<!-- a -->"), (2, "<!--"), (4, "--> "), (5, "<!--")):
        text = text.replace(f'<tu tuid="{number}"', f'{sign}<tu tuid="{number}"')
    text = text.replace("</body>", "--></body>")
    for options in ((), ("--skip-broken",)):
        found, counts = corpus("tmx", {"a.tmx": text}, "--tmx", "a.tmx", *options)
        assert found == GOOD and counts["read"] == 2
    assert "the file ends within an element" in refusal(
        corpus, "tmx", {"a.tmx": text.replace("-->", "")}, "--tmx", "a.tmx", "--skip-broken"
    )


@pytest.mark.parametrize("name", ["no-such", "rot13", "idna", "unicode_escape", "utf-32", "utf-16"])
def test_an_encoding_that_is_not_the_files_is_refused(corpus, refusal, name):  # noqa: F811
    text = tmx(unit(1), unit(2, "\\x")).replace("utf-8", name)
    file = text.encode("utf-16")[:-1] if name == "utf-16" else text.encode()
    for options in ((), ("--skip-broken",)):
        assert "a.tmx" in refusal(corpus, "tmx", {"a.tmx": file}, "--tmx", "a.tmx", *options)


HALF = """<dataset id="d">
<doc id="1"><src><seg id="1">A</seg></src><ref translator="A"><seg id="1">a</seg></ref></doc>
<doc id="2"><src><seg id="1">B</seg><seg id="2">C</seg></src>
<ref translator="B"><seg id="1">b</seg><seg id="2">c</seg></ref></doc>
<doc id="3"><src><seg id="1">D</seg></src></doc></dataset>
"""


def test_documents_without_this_reference(corpus, refusal):  # noqa: F811
    sides = ("--source", "a", "--target", "a")
    for options, message in (
        ((), "a: the document 2 has no translation by the first translator (--by any takes"),
        (("--by", "B"), "a: the document 1 has no translation by B; --skip-broken leaves it out"),
        (("--by", "any"), "a: the document 3 has no translation; --skip-broken leaves it out"),
    ):
        assert message in refusal(corpus, "wmt", {"a": HALF}, *sides, *options)
    for options, pairs, lines in (
        ((), "Aa", 3),
        (("--by", "B"), "BbCc", 2),
        (("--by", "any"), "AaBbCc", 1),
    ):
        found, counts = corpus("wmt", {"a": HALF}, *sides, *options, "--skip-broken")
        assert "".join(map("".join, found)) == pairs
        assert counts["left_out"] == {"in broken documents": lines} and counts["read"] == 4


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (sgm("refset", ["x"]), "its 1 segments are not the 2 of"),
        (
            sgm("refset", ["x", "y"]).replace('id="2"', 'id="1"'),
            "the segment '1' is twice in newstest2019/1012",
        ),
        (sgm("refset", ["x", "caf\udce9"]), "expected UTF-8, found byte 0xe9"),
    ],
    ids=["another length", "an id twice", "no UTF-8"],
)
def test_a_document_of_a_set(corpus, bad, message, refusal):  # noqa: F811
    def both(last, kind):
        first = sgm(kind, ["1", "2"]).replace("1012-bbc", "other")
        return (first + last).encode("utf-8", "surrogateescape")

    files = {"a": both(sgm("srcset", ["a", "b"]), "srcset"), "b": both(bad, "refset")}
    assert message in refusal(corpus, "wmt", files, "--source", "a", "--target", "b")
    found, counts = corpus("wmt", files, "--source", "a", "--target", "b", "--skip-broken")
    assert found == [("1", "1"), ("2", "2")] and counts["left_out"] == {"in broken documents": 2}
    files["b"] = both(sgm("refset", ["x", "y"]), "refset")
    assert len(corpus("wmt", files, "--source", "a", "--target", "b")[0]) == 4


def test_documents_whose_ids_are_no_text(corpus, refusal):  # noqa: F811
    def both(kind):
        first = sgm(kind, ["1", "2"]).replace("1012-bbc", "caf\udce9")
        return (first + sgm(kind, ["3"])).encode("utf-8", "surrogateescape")

    files, sides = {"a": both("srcset"), "b": both("refset")}, ("--source", "a", "--target", "b")
    assert "a: expected UTF-8, found the document" in refusal(corpus, "wmt", files, *sides)
    found, counts = corpus("wmt", files, *sides, "--skip-broken")
    assert found == [("3", "3")] and counts["left_out"] == {"in broken documents": 2}
    files = {name: text.replace(b"caf\xe9", b" ") for name, text in files.items()}
    assert "a segment is not in a document with an id" in refusal(corpus, "wmt", files, *sides)


def test_columns_beside_each_other(corpus):  # noqa: F811
    files = {"a": "A\nB\n", "b": "a\nb\n", "names": b"caf\xe9\nx\n"}
    for field in ("document", "speaker"):
        options = ("a", "--beside", "b", "names", "--fields", "source=1", "target=2", f"{field}=3")
        found, counts = corpus("records", files, *options, "--skip-broken")
        assert found == [("B", "b")] and counts["left_out"] == {"broken records": 1}
        assert "names:1: expected UTF-8 text" in counts["broken"][0]


@pytest.mark.parametrize("kind", ["wmt", "ted", "europarl"])
def test_tags_of_any_length_take_no_time(corpus, kind):  # noqa: F811
    """A megabyte of one attribute took hours."""
    long = "a" * 300_000
    text = {
        "wmt": f'<{{0}}><doc docid="1" {long}><seg id="1">A</seg></doc></{{0}}>',
        "ted": f'<doc docid="1" {long}>\n<doc>{"<doc " * 60_000}\nA\n',
        "europarl": f"<CHAPTER ID=1 {long}>\nA\n",
    }[kind]
    files = {"a": text.format("srcset"), "b": text.format("refset")}
    began = time.process_time()
    assert corpus(kind, files, "--source", "a", "--target", "b")[0] == [("A", "A")]
    assert time.process_time() - began < 5


def test_a_talk(corpus):  # noqa: F811
    talks = [talk("a", "b"), talk("c").replace("id>1", "id>2")]
    files = {"a": "".join(talks), "b": "".join([talk("A"), talks[1]])}
    found, counts = corpus("ted", files, "--source", "a", "--target", "b", "--skip-broken")
    assert found == [("c", "c")] and counts["left_out"] == {"in broken documents": 2, "metadata": 6}
    numbered = {"a": sets("srcset", "A"), "b": sets("refset", "B") + sets("refset", "C", docid="5")}
    found, counts = corpus("ted", numbered, "--source", "a", "--target", "b", "--skip-broken")
    assert found[0] == ("A", "B") and counts["left_out"] == {"in broken documents": 2}


def day(*chapters):
    return "".join(f"<CHAPTER ID={number}>\n{text}\n" for number, text in enumerate(chapters, 1))


SPEECH = "<SPEAKER ID=1>\nHello."


@pytest.mark.parametrize(
    "english, german, message",
    [
        (("One.", f"Two.\n{SPEECH}", "Three."), ("Eins.", "Zwei.\nHallo.", "Drei."), "expected the chapters"),
        (("One.", "<TITLE>\nTwo.\nTwo.", "Three."), ("Eins.", "Zwei.", "Drei."), "a:4: expected <CHAPTER>"),
        (("One.", "Two.\n<P>\nTwo.", "Three."), ("Eins.", "Zwei.", "Drei."), "expected the chapters"),
    ],
    ids=["speaker on one side", "an unknown tag", "paragraph on one side"],
)
def test_a_chapter_of_europarl(corpus, english, german, message, refusal):  # noqa: F811
    files, sides = {"a": day(*english), "b": day(*german)}, ("--source", "a", "--target", "b")
    assert message in refusal(corpus, "europarl", files, *sides)
    found, counts = corpus("europarl", files, *sides, "--skip-broken")
    assert found == [("One.", "Eins."), ("Three.", "Drei.")]
    assert counts["left_out"] == {"in broken chapters": 2, "tags": 4} and len(counts["broken"]) == 1


def test_blank_lines_of_europarl_misalign_nothing(corpus):  # noqa: F811
    files = {"a": day("One.\n\nThree.\n\nFive."), "b": day("Eins.\nZwei.\n\n\nFünf.")}
    found, counts = corpus("europarl", files, "--source", "a", "--target", "b")
    assert found == [("One.", "Eins."), ("Five.", "Fünf.")]  # not ("Three.", "Zwei.")
    assert counts["left_out"] == {"blank": 1, "empty": 2, "tags": 1}


PLAIN = {"a": b"One.\nTwo \xff.\nThree.\n", "b": "Eins.\nZwei.\nDrei.\n"}
IDS = "en/1.xml\tde/1.xml\t{0}\t{0}\n"


@pytest.mark.parametrize(
    "kind, options, reason",
    [
        ("wmt", ("--blank-lines",), "not UTF-8"),
        ("wmt", ("--docs", "names"), "not UTF-8"),
        ("moses", ("--ids", "ids"), "not UTF-8"),
        ("voita", ("--current", "all"), "not UTF-8"),
        ("europarl", (), "not UTF-8"),
        ("wmt", ("--docs", "bad names"), "broken lines"),
        ("moses", ("--ids", "bad ids"), "broken lines"),
        ("moses", ("--ids", "other ids"), "broken lines"),
    ],
)
def test_a_line(corpus, refusal, kind, options, reason):  # noqa: F811
    files = {
        **PLAIN,
        "names": "news\t1\n" * 3,
        "bad names": "news\t1\nnews\nnews\t1\n",
        "ids": "".join(map(IDS.format, "123")),
        "bad ids": IDS.format(1) + "x\n" + IDS.format(3),
        "other ids": IDS.format(1) + IDS.format(2).replace("de/", "fr/") + IDS.format(3),
    }
    if reason != "not UTF-8":
        files["a"] = files["a"].replace(b"\xff", b"")
    sides = ("--source", "a", "--target", "b")
    assert "b'" not in (error := refusal(corpus, kind, files, *sides, *options)) and ":2: expected" in error
    found, counts = corpus(kind, files, *sides, *options, "--skip-broken")
    assert found == [("One.", "Eins."), ("Three.", "Drei.")] and counts["left_out"] == {reason: 1}
    assert len(counts["broken"]) == (reason != "not UTF-8")


def test_a_line_with_other_sentences_on_its_sides(corpus):  # noqa: F811
    files = {"a": "a _eos b\nc _eos d\n", "b": "A\nC _eos D\n"}
    options = ("--source", "a", "--target", "b", "--current", "last", "--skip-broken")
    found, counts = corpus("voita", files, *options)
    assert found == [("c", "C"), ("d", "D")] and counts["left_out"] == {"in broken lines": 2}
    assert counts["broken"] and "b:1: expected 2 sentences" in counts["broken"][0]
