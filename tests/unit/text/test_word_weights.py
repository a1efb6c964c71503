"""Weights of words, from numbers, tags and bits; and words that are split in two ways."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.word_tags import overlaps
from ctxmt_fairseq.text.word_weights import cxmi_weights, tag_weights, written_weights

TEXT = st.text("aÀßﬁx'", min_size=1, max_size=12)


@given(TEXT, st.sets(st.integers(1, 11)), st.sets(st.integers(1, 11)))
def test_parts_of_words_are_those_that_share_a_character(text, one, other):
    def cut(places):
        ends = [0, *sorted(place for place in places if place < len(text)), len(text)]
        spans = list(zip(ends, ends[1:], strict=False))
        return [text[begin:end] for begin, end in spans], [set(range(begin, end)) for begin, end in spans]

    (parts, of_part), (words, of_word) = cut(one), cut(other)
    expected = [[at for at, part in enumerate(of_part) if part & word] for word in of_word]
    assert overlaps(parts, [word.upper() for word in words]) == expected
    assert overlaps(parts, [*words, "z"]) is None


def test_escaped_signs_are_what_they_stand_for():
    assert overlaps(["L'", "été"], ["l&apos;", "été"]) == [[0], [1]]
    assert overlaps(["a&amp", ";b"], ["a&amp;b"]) == [[0, 1]], "the text has an entity itself"
    assert overlaps(["a", "b"], ["a", "&apos;"]) is None


def test_invisible_characters_make_no_difference():
    """SentencePiece's rules take them for blanks or leave them out."""
    assert overlaps(["می\u200cرود", "."], ["می", "رود."]) == [[0], [0, 1]]
    assert overlaps(["\ufeffa\u200fb"], ["ab"]) == [[0]]


def write(path, *lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def shown(found, *words):
    """(line, weights of these words) of each line."""
    return [(each.line, each.of(line.split()).tolist()) for each, line in zip(found, words, strict=True)]


def test_weights_of_words(tmp_path):
    numbers = write(tmp_path / "numbers", "1 0 2.5", "")
    assert shown(written_weights(numbers, 2), "a b c", "") == [(0, [1, 0, 2.5]), (1, [])]
    tags = write(tmp_path / "tags", {"tags": [[], ["x", "y"]]}, {"words": ["C'", "est"], "tags": [["x"], []]})
    # The second line as the text has it, and its words with the largest weight of their parts.
    assert shown(tag_weights(tags, 2, 3, {}), "a b", "c'est") == [(0, [1, 3]), (1, [3])]
    by_tag = tag_weights(tags, 2, 3, {"y": 1.5, "x": 4})
    assert shown(by_tag, "a b", "c'est") == [(0, [1, 4]), (1, [4])]
    assert shown(tag_weights(tags, 2, 3, {"y": 1.5}), "a b", "c'est") == [(0, [1, 1.5]), (1, [1])]
    assert shown(tag_weights(tags, 2, 3, {"y": 0.5}), "a b", "c'est") == [(0, [1, 0.5]), (1, [1])]
    low = tag_weights(tags, 2, 3, {"x": 0.5, "y": 0})
    assert shown(low, "a b", "c'est") == [(0, [1, 0.5]), (1, [0.5])], "a part without tag does not count"
    with pytest.raises(BadInput, match="--token-weights z: no line has this tag; .*: x, y"):
        list(tag_weights(tags, 2, 3, {"y": 1.5, "z": 2}))
    bits = [
        {"line": 2, "words": ["a", "b", "c"], "bits": [-2, 0.25, 7], "end_bits": 9},
        {"line": 1, "words": ["d"], "bits": [1]},
    ]
    bits = write(tmp_path / "bits", *bits)
    assert shown(cxmi_weights(bits, 4, 5), "a b c", "d") == [(1, [1, 2, 5]), (0, [5])]


@pytest.mark.parametrize(
    ("read", "lines", "message"),
    [
        (written_weights, ["1 x", "1"], "file:1: expected weights from 0 to a million, found 'x'"),
        (written_weights, ["1", "-1"], "file:2: expected weights from 0"),
        (written_weights, ["1", "nan"], "file:2: expected weights from 0"),
        (written_weights, ["1"], "file: expected 2 lines"),
        (written_weights, ["1", "1", "1"], "file:3: expected 2 lines"),
        (tag_weights, [{"tags": [[]]}], "file: expected 2 lines"),
        (tag_weights, [{"tags": [1]}, {}], "file:1: expected 'tags'"),
        (cxmi_weights, [], "file: expected the output of ctxmt probe --words"),
        (cxmi_weights, [{"line": 3}], "file:1: expected lines from 1 to 2, each once, found 3"),
        (cxmi_weights, [{"line": 1, "words": ["a"], "bits": []}], "file:1: expected 'bits' to be a list"),
        (cxmi_weights, [{"line": 1, "words": ["a"], "bits": ["1"]}], "file:1: expected 'bits'"),
        (cxmi_weights, [{"line": 1, "words": [1], "bits": [1]}], "file:1: expected 'words'"),
        (cxmi_weights, [{"line": 1, "words": [], "bits": []}] * 2, "file:2: expected lines"),
    ],
)
def test_bad_files_are_refused(tmp_path, read, lines, message):
    path = write(tmp_path / "file", *lines)
    with pytest.raises(BadInput) as error:
        list(read(path, 2, *{tag_weights: (5, {}), cxmi_weights: (5,)}.get(read, ())))
    assert message in str(error.value)


def test_weights_of_other_words_are_refused(tmp_path):
    numbers = next(written_weights(write(tmp_path / "numbers", "1 2"), 1))
    with pytest.raises(BadInput, match="numbers:1: expected 3 words, .* found 2"):
        numbers.of(["a", "b", "c"])
    (tags,) = tag_weights(write(tmp_path / "tags", {"words": ["a", "b"], "tags": [[], ["x"]]}), 1, 9, {})
    assert np.array_equal(tags.of(["ab"]), [9]) and np.array_equal(tags.of(["", "a", "b"]), [1, 1, 9])
    with pytest.raises(BadInput, match="tags:1: expected 1 words"):
        tags.of(["ax"])


def test_as_many_words_may_be_others(tmp_path):
    """The tokenisers of annotation and Moses, in German; and words of which only the number is alike."""
    parts = ["Wie", "geht's", "Dr", ".", "Frank", "?"]
    record = {"words": parts, "tags": [[], [], ["x"], [], [], []]}
    (tags,) = tag_weights(write(tmp_path / "tags", record), 1, 9, {})
    assert tags.of(["Wie", "geht", "'s", "Dr.", "Frank", "?"]).tolist() == [1, 1, 1, 9, 1, 1]
    assert tags.of(["WIE", "geht", "es", "Dr", "Fr.", "?"]).tolist() == [1, 1, 9, 1, 1, 1]
    with pytest.raises(BadInput, match="tags:1: expected 6 words, .* found 6"):  # cut otherwise
        tags.of(["Wie geht's", "x", "yz", "Dr.Fr", "ank", "?"])
    assert tags.of(["", "", "", "Dr", "", "?"]).tolist() == [1, 1, 9, 1, 1, 1]  # unknown words
