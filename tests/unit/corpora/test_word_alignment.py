"""``ctxmt corpus align``: words find their translations, whatever else stands in the lines."""

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.linguistics import align
from ctxmt_fairseq.corpora.linguistics.align import Tokens, aligned_text, aligned_texts
from ctxmt_fairseq.text.alignment import alignment_line, read_alignment
from tests.helpers.coreference_files import write_lines

DICTIONARY = {
    "the": "la", "cat": "chatte", "dog": "chienne", "sees": "voit", "hears": "entend", "house": "maison",
    "red": "rouge", "small": "petite", "and": "et", "here": "ici",
}  # fmt: skip
LINES = st.lists(
    st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=20),
    min_size=2,
    max_size=6,
)


@pytest.fixture
def thot():
    pytest.importorskip("thot", reason="the extra align is not installed")


def corpus(folder, count=200, order=lambda words: words):
    """Sentences of different words and their translations, word by word; files and places of the words.

    Args:
        order: of the translations' words.
    """
    draw = random.Random(1)
    sources, targets, expected = [], [], []
    for _ in range(count):
        words = draw.sample(sorted(DICTIONARY), draw.randint(2, 6))
        translated = order(words)
        sources.append(" ".join(words))
        targets.append(" ".join(DICTIONARY[word] for word in translated))
        expected.append([(i, translated.index(word)) for i, word in enumerate(words)])
    return (write_lines(folder / "src", sources), write_lines(folder / "tgt", targets)), expected


def pairs_of(*arguments, **options):
    return [line.pairs for line in aligned_text(*arguments, **options)]


@pytest.mark.parametrize("order", [lambda words: words, lambda words: [*words[1:], words[0]]])
def test_words_find_their_translations(tmp_path, thot, order):
    text, expected = corpus(tmp_path, order=order)
    assert pairs_of(text) == expected


def test_both_directions_are_made_one_by_grow_diag_final_and(tmp_path, thot):
    from thot.alignment import SymmetrizationHeuristic as Heuristic

    draw = random.Random(2)
    sides = [[" ".join(draw.choices(words, k=draw.randint(1, 9))) for _ in range(60)]
             for words in (list(DICTIONARY), list(DICTIONARY.values()))]  # fmt: skip
    text = write_lines(tmp_path / "src", sides[0]), write_lines(tmp_path / "tgt", sides[1])
    aligner = align._aligner([text])

    def by(heuristic):
        aligner.heuristic = heuristic
        return [set(line.pairs) for line in align._aligned(aligner, text)]

    found = [set(line) for line in pairs_of(text)]
    grown, union = by(Heuristic.GROW_DIAG), by(Heuristic.UNION)
    assert found not in (grown, union, by(Heuristic.GROW_DIAG_FINAL))
    for smaller, final, larger in zip(grown, found, union, strict=True):
        assert smaller <= final <= larger
        aligned = [{pair[side] for pair in smaller} for side in (0, 1)]
        assert not any(i in aligned[0] or j in aligned[1] for i, j in final - smaller)  # both were free


def test_marks_at_words_do_not_count(tmp_path, thot):
    """A text with marks, capitals and odd blanks has the alignment of the plain one."""
    text, expected = corpus(tmp_path)
    spoilt = [
        write_lines(Path(f"{path}.spoilt"), [line.title().replace(" ", f"{mark}\u00a0\u2003")
                    for line in Path(path).read_text(encoding="utf-8").splitlines()])
        for path, mark in zip(text, (",", "!..."), strict=True)
    ]  # fmt: skip
    assert pairs_of(tuple(spoilt)) == expected


def test_places_are_those_of_white_space_words(tmp_path, thot):
    text, expected = corpus(tmp_path)
    lines = Path(text[1]).read_text(encoding="utf-8").splitlines()
    divided = [" ".join(f"{word}-{word[::-1]}" for word in line.split()) for line in lines]
    target = write_lines(tmp_path / "divided", divided)
    assert pairs_of((text[0], target)) == expected


def test_texts_are_aligned_by_what_is_learnt_from_all_of_them(tmp_path, thot):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    turned = {"order": lambda words: words[::-1]}
    small, expected = corpus(tmp_path / "one", 3, **turned)
    large, _ = corpus(tmp_path / "two", **turned)
    found = [[line.pairs for line in text] for text in aligned_texts([small, large])]
    assert found == [pairs_of(small, [large]), pairs_of(large, [small])]
    assert found[0] == expected != pairs_of(small)


def test_parts_of_words():
    found = Tokens.of("«Prends  l'homme, L’homme... -- 3,5 !» ")
    assert found.texts == ["prends", "l'", "homme", "l’", "homme", "-", "-", "3", "5", "!", "»"]
    assert found.words == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5] and found.size == 6


@settings(max_examples=50, deadline=None)
@given(LINES)
def test_every_line_has_its_pairs(tmp_path_factory, lines):
    pytest.importorskip("thot", reason="the extra align is not installed")
    folder = tmp_path_factory.mktemp("align")
    sources, targets = lines[::2], lines[1::2][: len(lines) // 2]
    sources = sources[: len(targets)]
    text = write_lines(folder / "src", sources), write_lines(folder / "tgt", targets)
    found = list(aligned_text(text))
    for line, *sides in zip(found, sources, targets, strict=True):
        assert line.sizes == tuple(len(side.split()) for side in sides)
    written = write_lines(folder / "align", [alignment_line(line.pairs) for line in found])
    read = read_alignment(written, sources, targets)
    assert [[(i, j) for i, js in line.items() for j in js] for line in read] == [x.pairs for x in found]


def test_lines_that_cannot_be_aligned_stay_empty(tmp_path, thot, capsys):
    long = " ".join(["a"] * 1025)
    sources, targets = ["a b", "", "a", long, "a b", "b"], ["x y", "x", "  ", "x y", long, "y"]
    text = write_lines(tmp_path / "src", sources * 3), write_lines(tmp_path / "tgt", targets * 3)
    output = tmp_path / "out"
    assert not main(["corpus", "align", *text, "--output", str(output)])
    assert output.read_text() == "0-0 1-1\n\n\n\n\n0-0\n" * 3
    first, second = capsys.readouterr().out.splitlines()
    assert ": 18 lines, 9 pairs, 0.3 % of" in first  # 9 of 3,096 words
    assert second == "6 lines of more than 1,024 parts of words are left without pairs"


def test_two_lines_learn_from_further_text(tmp_path, thot):
    folder = tmp_path / "more"
    folder.mkdir()
    more, _ = corpus(folder)
    lines = "here dog the red", "rouge la ici chienne"
    text = tuple(write_lines(tmp_path / side, [line]) for side, line in zip("ab", lines, strict=True))
    output = tmp_path / "out"
    assert not main(["corpus", "align", *text, "--train", *more, "--output", str(output)])
    first = output.read_bytes()
    assert first == b"0-2 1-3 2-1 3-0\n"
    assert not main(["corpus", "align", *text, "--train", *more, "--output", str(output)])
    assert output.read_bytes() == first
    assert pairs_of(text) != [[(0, 2), (1, 3), (2, 1), (3, 0)]]


def test_refusals(tmp_path, monkeypatch, refusal, thot):
    one, two = write_lines(tmp_path / "one", ["a"]), write_lines(tmp_path / "two", ["a", "b"])
    output = tmp_path / "out"

    def refused(*arguments):
        line = refusal(main, ["corpus", "align", *arguments, "--output", str(output)])
        assert not output.exists()
        return line

    assert f"one: expected as many lines as {two}, found 1" in refused(one, two)
    assert f"one: expected as many lines as {two}, found 1" in refused(one, one, "--train", one, two)
    assert "nowhere: no such file" in refused(one, str(tmp_path / "nowhere"))
    monkeypatch.setitem(sys.modules, "thot.alignment", None)
    needs = 'needs sil-thot, in the extra "align": pip install ".[align]" in the checkout'
    assert refused(one, one).endswith(needs)
