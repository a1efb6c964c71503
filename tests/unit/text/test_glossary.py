"""Glossaries: which terms a sentence asks for, and files that are none."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.glossary import missing, read_glossary

WORDS = st.text("abA", min_size=1, max_size=2)
TERM = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(st.dictionaries(TERM, TERM, min_size=1, max_size=6), st.lists(WORDS, max_size=8))
def test_terms_are_the_longest_whole_words_from_left_to_right(entries, words):
    spelled = {**{term[0].upper() + term[1:]: target for term, target in entries.items()}, **entries}
    found, at = [], 0
    while at < len(words):
        ends = [end for end in range(len(words), at, -1) if " ".join(words[at:end]) in spelled]
        found += [spelled[" ".join(words[at : ends[0]])]] if ends else []
        at = ends[0] if ends else at + 1
    glossary = read_glossary(entries)
    assert glossary and glossary.terms(" ".join(words)) == [*dict.fromkeys(found)]


@pytest.mark.parametrize(
    "sentence, terms",
    [
        ("The cat, asleep.", ["Katze"]),
        ("Cats and cat's", ["Katze"]),
        ("concat cats CAT", []),
        ("Cat food! cat food, cat", ["Katzenfutter", "Katze"]),
        ("don't", ["nicht"]),
        ("我有猫。", ["Kater"]),
        ("turkey Turkey", ["Türkei"]),
        ("Un cafe\u0301, deux CAFÉS", ["Kaffee"]),
    ],
)
def test_words_and_marks(sentence, terms):
    entries = {
        "cat": "Katze",
        "cat food": "Katzenfutter",
        "don't": "nicht",
        "猫": "Kater",
        "Turkey": "Türkei",
        "café": "Kaffee",
    }
    glossary = read_glossary(entries)
    assert glossary and glossary.terms(sentence) == terms


def test_a_term_stands_in_a_sentence_as_it_is():
    for text, term in (("Die Katze-Frage", "Katze"), ("(Katze)", "Katze"), ("他有猫吗", "有猫")):
        assert missing(text, [term]) == []
    assert missing("U\u0308bel", ["Übel"]) == []
    for text in ("Katzen", "katze", "Kat ze", "aKatze", ""):
        assert missing(text, ["Katze"]) == ["Katze"]


def test_a_term_inside_a_longer_one_does_not_count():
    assert missing("The cat food is in the catalogue.", ["cat", "cat food"]) == ["cat"]
    assert missing("The cat has cat food, a cat.", ["cat", "cat food", "catalogue"]) == ["catalogue"]
    assert missing("cat food a", ["food a", "cat food"]) == ["cat food"]


def test_a_file_and_terms_that_stay(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_bytes("\ufeffcat\t Katze \r\n\ncat\tKatze\ndog food\tFutter\n".encode())
    glossary = read_glossary(path, ["ACME", "cat flap"])
    assert glossary and glossary.entries == {
        "cat": "Katze", "dog food": "Futter", "ACME": "ACME", "cat flap": "cat flap",
    }  # fmt: skip
    path.write_text("\n")
    assert read_glossary(path) is None and read_glossary(None, []) is None and read_glossary({}) is None


@pytest.mark.parametrize(
    "content, message",
    [
        (b"a\tb\nc\td\te\n", ":2: expected a term, a tab and its translation, found 3 columns"),
        (b"a b\n", ":1: expected a term, a tab and its translation, found 1 columns"),
        (b"a\tb\n\t\tc\n", ":2: expected a term, a tab and its translation, found 3 columns"),
        (b"a\t \n", ":1: expected a term and its translation, found a blank"),
        (b"\tb\n", ":1: expected a term and its translation, found a blank"),
        (b"cat\tKatze\n\ncat\tKater\n", ":3: 'cat' is to become 'Kater' and, in an earlier entry, 'Katze'"),
        (b"a\tb\nc\t\xff\n", ":2: expected UTF-8, found byte 0xff"),
    ],
)
def test_what_is_no_glossary_is_one_line(tmp_path, content, message):
    (tmp_path / "g").write_bytes(content)
    with pytest.raises(BadInput, match=re.escape(f"{tmp_path}/g{message}") + "$"):
        read_glossary(tmp_path / "g")


@pytest.mark.parametrize("keep", ["", " ", "\u3000"])
def test_blank_terms_and_contradictions(keep):
    with pytest.raises(BadInput, match="^keep: expected a term and its translation, found a blank"):
        read_glossary(None, [keep])
    with pytest.raises(BadInput, match="^keep: 'a' is to become 'a' and, in an earlier entry, 'b'"):
        read_glossary({"a": "b"}, ["a"])


def test_many_entries_take_linear_time(tmp_path):
    def seconds(count):
        (tmp_path / "g").write_text("".join(f"a b term {n} of many\tc{n}\n" for n in range(count)))
        begin = time.process_time()
        glossary = read_glossary(tmp_path / "g")
        assert glossary and glossary.terms("see a b term 77 of many " * 2000) == ["c77"]
        return time.process_time() - begin

    few = seconds(5_000)
    assert seconds(40_000) < 24 * few + 1
