"""Which language's text is taken, and which tags are tags: what looks right and is the other side's text."""

import pytest

from ctxmt_fairseq.corpora.formats.language_codes import code_of, matching
from tests.helpers.corpus_files import convert
from tests.unit.corpora.test_aligned_documents import sets, sgm
from tests.unit.corpora.test_corpus_tmx import side, tmx


@pytest.fixture
def corpus(tmp_path):
    """``corpus(kind, {file: text}, options)``: pairs of the corpus, and its account."""

    def make(kind, files, *options, languages=("en", "de")):
        columns, counts = convert(tmp_path, kind, files, *options, languages=languages)
        return list(zip(*(columns[end] for end in languages), strict=True)), counts

    return make


@pytest.mark.parametrize(
    "codes, wanted, found",
    [
        (["zh-CN", "zh-TW"], "zh-TW", ["zh-TW"]),
        (["zh-CN", "zh_tw"], "zh-TW", ["zh_tw"]),
        (["zh-CN", "zh"], "zh-TW", ["zh"]),
        (["zh-CN"], "zh-TW", []),
        (["pt-BR", "pt-PT"], "pt", ["pt-BR", "pt-PT"]),
        (["pt-BR", "pt"], "pt", ["pt"]),
        (["por", "ptx"], "pt", []),
    ],
)
def test_the_very_code_comes_first_then_the_language(codes, wanted, found):
    assert matching(codes, wanted) == found


def test_names_of_languages_are_no_codes():
    assert [code_of(text) for text in ("de", "pt-BR", "zh_Hant_TW", "any", "german", "", None)] == [
        *("de", "pt-BR", "zh_Hant_TW"),
        *[None] * 4,
    ]


REGIONS = tmx(
    (side("en-GB", "Mouse."), side("pt-BR", "Mouse."), side("pt-PT", "Rato.")),
    (side("en-GB", "Bus."), side("pt-BR", "Ônibus.")),
)


@pytest.mark.parametrize(
    "languages, pairs, variants, left_out",
    [
        (("en", "pt-PT"), [("Mouse.", "Rato.")], 0, 1),
        (("pt-BR", "pt-PT"), [("Mouse.", "Rato.")], 0, 1),
        (("en", "pt-BR"), [("Mouse.", "Mouse."), ("Bus.", "Ônibus.")], 0, 0),
        (("en", "pt"), [("Mouse.", "Mouse."), ("Bus.", "Ônibus.")], 1, 0),
    ],
)
def test_no_other_region_s_text(corpus, languages, pairs, variants, left_out):
    found, counts = corpus("tmx", {"a.tmx": REGIONS}, "--tmx", "a.tmx", languages=languages)
    assert found == pairs and counts["remarks"].get("units with several variants", 0) == variants
    assert counts["left_out"] == ({"without one of the languages": 1} if left_out else {})


XML = """<dataset id="d"><doc id="1"><src lang="en"><p><seg id="1">A</seg></p></src>
<ref lang="fr" translator="A"><p><seg id="1">fr</seg></p></ref>
<ref lang="de" translator="A"><p><seg id="1">de</seg></p></ref>
<hyp language="fr" system="S"><p><seg id="1">fr</seg></p></hyp></doc></dataset>
"""


def test_the_language_of_a_reference_counts(corpus, refusal):
    files, sides = {"a.xml": XML}, ("--source", "a.xml", "--target", "a.xml")
    assert corpus("wmt", files, *sides)[0] == [("A", "de")]
    assert corpus("wmt", files, *sides, languages=("en", "fr"))[0] == [("A", "fr")]
    german = {"a": sgm("srcset", ["A"]), "b": sgm("refset", ["B"]).replace("<refset", '<refset trglang="de"')}
    assert corpus("wmt", german, "--source", "a", "--target", "b")[0] == [("A", "B")]
    names = {"a": sets("srcset", "A"), "b": sets("refset", "B")}  # "english", "german"
    assert corpus("ted", names, "--source", "a", "--target", "b")[0][0] == ("A", "B")
    for made, options, languages, message in (
        (files, sides, ("en", "cs"), "a.xml: has no <ref> in cs, but in de, fr"),
        (files, sides, ("cs", "de"), "a.xml: has no <src> in cs, but in en"),
        (files, (*sides, "--system", "S"), ("en", "de"), "a.xml: has no <hyp> in de, but in fr"),
        (german, ("--source", "a", "--target", "b"), ("en", "fr"), "b: has no <ref> in fr, but in de"),
    ):
        assert message in refusal(corpus, "wmt", made, *options, languages=languages)


def talk(*lines):
    return "\n".join(["<url>http://t</url>", "<talkid>1</talkid>", "<title>T</title>", *lines, ""])


def test_only_known_tags_are_tags(corpus):
    files = {
        "a": talk("One.", "<3 is two.", "<applause> Three."),
        "b": talk("Eins.", "<3 ist zwei.", "Drei."),
    }
    found, counts = corpus("ted", files, "--source", "a", "--target", "b")
    assert found == [("One.", "Eins."), ("<3 is two.", "<3 ist zwei."), ("<applause> Three.", "Drei.")]
    assert (counts["read"], counts["kept"], counts["left_out"]) == (6, 3, {"metadata": 3})
    assert counts["remarks"]["lines that begin like a tag"] == 1


TSV = "The lamp.\tDie Lampe.\nIt.\tSie.\n\t\nA tree.\tEin Baum.\n"


@pytest.mark.parametrize(
    "name, order", [("news.en-de.tsv", 1), ("news.de-en.tsv", -1), ("news.tsv", 1), ("v1.en-de.x.tsv", 1)]
)
def test_columns_are_read_as_columns(corpus, name, order):
    sides = ("--source", name, "--target", name)
    pairs = [("The lamp.", "Die Lampe."), ("It.", "Sie."), ("A tree.", "Ein Baum.")]
    found, counts = corpus("wmt", {name: TSV}, *sides, "--blank-lines")
    assert found == [pair[::order] for pair in pairs]
    assert counts["left_out"] == {"blank lines between documents": 1}
    files = {name: TSV.replace("\t\n", ""), "names": "news\t1\n" * 2 + "news\t2\n"}
    assert corpus("wmt", files, *sides, "--docs", "names")[0] == [pair[::order] for pair in pairs]


def test_columns_that_are_none_and_tabs_in_text_are_named(corpus, refusal):
    assert "a.tsv:2: is given for both sides: expected two columns" in refusal(
        corpus, "wmt", {"a.tsv": "a\tb\nc\n"}, "--source", "a.tsv", "--target", "a.tsv", "--blank-lines"
    )
    found, counts = corpus(
        "wmt", {"a": TSV, "b": "Die Lampe.\nSie.\n\nx\n"}, "--source", "a", "--target", "b", "--blank-lines"
    )
    assert counts["remarks"]["with a tab, read as a blank"] == 3 and found[0][1] == "Die Lampe."


def test_spaces_that_are_folded_are_counted(corpus):
    files = {"a": "Quoi\u00a0?\n10\u202f000\n\u3000A \nB\n", "b": "x\ny\nz\n「は」\u3000い\n"}
    found, counts = corpus("wmt", files, "--source", "a", "--target", "b", "--blank-lines")
    assert found[:2] == [("Quoi ?", "x"), ("10 000", "y")]
    assert counts["remarks"] == {"with a no-break or ideographic space, read as a blank": 3}


def test_further_columns_are_counted(corpus):
    text = "The lamp.\tDie Lampe.\tnews\n\t\tnews\nIt.\tSie.\t\n"
    sides = ("--source", "a", "--target", "a", "--blank-lines")
    found, counts = corpus("wmt", {"a": text}, *sides)
    assert found == [("The lamp.", "Die Lampe."), ("It.", "Sie.")]
    assert counts["remarks"] == {"with further columns, not read": 1}
    assert counts["left_out"] == {"blank lines between documents": 1}


@pytest.mark.parametrize(
    "kind, text, options",
    [
        ("ted", talk("One."), ()),
        ("moses", "One.\n", ("--ids", "a")),
        ("voita", "One.\n", ("--context", "a")),
        ("europarl", "<CHAPTER ID=1>\nOne.\n", ()),
    ],
)
def test_one_text_is_not_both_sides(corpus, refusal, kind, text, options):
    assert "a: is given for both sides" in refusal(
        corpus, kind, {"a": text}, "--source", "a", "--target", "a", *options
    )
