"""What vecalign and bertalign print, with the documents that they aligned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from tests.helpers.corpus_files import convert

TEXT = {"a.en": "A.\nB.\nC.\nD.\n", "a.de": "1.\n2.\n3.\n4.\n"}
LINKS = "[0, 1]:[0]:0.123456\n[]:[1]:0.000000\n[2]:[2, 3]:0.2\n[3]:[]:0.0\n"


def aligned(folder, files, *options, alignment=("a.txt",), sources=("a",)):
    """The lines of the new corpus (source, target, id), and the marks of those that are context."""
    sides = ([f"{name}.{end}" for name in sources] for end in ("en", "de"))
    names = [("--source", "--target", "--alignment"), (*sides, alignment)]
    words = [word for option, of in zip(*names, strict=True) for word in (option, *of)]
    columns, _ = convert(folder, "aligned", files, *words, *options)
    lines = zip(columns["en"], columns["de"], columns["docids"], strict=True)
    return list(lines), "".join(columns.get("current", ()))


def test_links_and_sentences_without_counterpart(tmp_path):
    files = {**TEXT, "a.txt": LINKS}
    assert aligned(tmp_path, files) == ([("A. B.", "1.", "a"), ("C.", "3. 4.", "a/2")], "")
    lines = [("A. B.", "1.", "a"), ("", "2.", "a"), ("C.", "3. 4.", "a"), ("D.", "", "a")]
    assert aligned(tmp_path, files, "--unaligned", "keep") == (lines, "1010")


@pytest.mark.parametrize("one", [True, False])
def test_alignments_of_several_documents(tmp_path, one):
    """A file for each, or one after the other, as vecalign prints them; bertalign prints no costs."""
    short = LINKS.replace(":0.123456", "")
    files = {**TEXT, "b.en": "A.\n", "b.de": "Z.\n", "c.en": "", "c.de": "Z.\n"}
    texts = {"x": short, "y": "[0]:[0]\n", "z": "[]:[0]\n"}
    files |= {"x": "".join(texts.values())} if one else texts
    lines, _ = aligned(tmp_path, files, alignment="x" if one else "xyz", sources="abc")
    assert [line[2] for line in lines] == ["a", "a/2", "b"] and lines[2] == ("A.", "Z.", "b")


@pytest.mark.parametrize(
    "links, words",
    [
        (LINKS.replace("[2]:[2", "[2]:[1, 2"), "a.txt:3: expected sentence 2 of 4 next, found [1, 2, 3] of"),
        (LINKS.replace("[0, 1]", "[0]"), "a.txt:3: expected sentence 1 of 4 next, found [2]"),
        (LINKS.replace("[0, 1]", "[1, 0]"), "a.txt:1: expected sentence 0 of 4 next, found [1, 0]"),
        (LINKS.replace("[3]:[]", "[3, 4]:[]"), "a.txt:4: expected sentence 3 of 4 next, found [3, 4]"),
        (LINKS.replace("[3]:[]:0.0\n", ""), "a.txt:3: ends before the last 1 and 0 sentences of"),
        (LINKS + "[0]:[0]:0.1\n", "a.txt:5: goes on behind the last sentences"),
        ("", "a.txt: ends before the last 4 and 4 sentences of"),
        ("[0]:[x]:0.1\n", "a.txt:1: expected sentences such as [0, 1]:[0]:0.123, found"),
        ("[]:[]:0.1\n", "a.txt:1: expected sentences such as"),
        ("\n", "a.txt:1: expected sentences such as"),
        ("[" + "0, " * 9 + "9" * 400 + "]:[0]\n", "a.txt:1: expected sentences such as"),
    ],
)
def test_refusals(tmp_path, refusal, links, words):
    assert words in refusal(aligned, tmp_path, {**TEXT, "a.txt": links})
    assert not list(tmp_path.glob("out*"))


def test_the_same_documents_on_both_sides(tmp_path, refusal):
    sides = ("--source", "a", "b", "--target", "a", "--alignment", "c")
    languages = ("--source-lang", "en", "--target-lang", "de", "--out", str(tmp_path / "out"))
    assert "--target: expected 2 files, found 1" in refusal(main, ["corpus", "aligned", *sides, *languages])
    sides = ("--source", "a.en", "b.en", "--target", "b.de", "a.de", "--alignment", "c")
    assert "--target: expected the order of --source: a, b" in refusal(
        main, ["corpus", "aligned", *sides, *languages]
    )


SIZES = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any)


@given(st.lists(SIZES, min_size=1, max_size=6).filter(lambda links: any(all(link) for link in links)))
def test_every_sentence_is_there_once_in_order(tmp_path_factory, links):
    folder, at, lines = tmp_path_factory.mktemp("aligned"), [0, 0], []
    for link in links:
        sides = [[*range(place, place + size)] for place, size in zip(at, link, strict=True)]
        at = [place + size for place, size in zip(at, link, strict=True)]
        lines.append(f"{sides[0]}:{sides[1]}:0.5\n")
    sizes = dict(zip(("en", "de"), at, strict=True))
    text = {f"a.{end}": "".join(f"{end}{place}\n" for place in range(size)) for end, size in sizes.items()}
    found, _ = aligned(folder, {**text, "a.txt": "".join(lines)}, "--unaligned", "keep")
    for side, end in enumerate(("en", "de")):
        assert " ".join(line[side] for line in found).split() == text[f"a.{end}"].split()
    assert [all(line[:2]) for line in found] == [all(link) for link in links]
