"""Tells words from punctuation, in any script."""

import functools
import re
import unicodedata
from typing import List, Tuple

import regex

_CHARACTERS = r"[^\s\p{P}\p{S}]+"  # with the marks that Python's \w leaves out, such as vowel signs
_MARK = r"[\p{P}\p{S}]"
# A word with its hyphens and apostrophes, or a single mark. Every character but blanks is in one.
WORD = regex.compile(rf"{_CHARACTERS}(?:[-'’]{_CHARACTERS})*|{_MARK}")
_PART = regex.compile(rf"{_CHARACTERS}['’]?|{_MARK}")  # l'|homme
_START = regex.compile(_CHARACTERS)
_SPACED = re.compile(r"\S+")


@functools.lru_cache(2**16)
def lexical_parts(word: str) -> Tuple[str, ...]:
    """The parts of a white-space word between its marks; or its marks, if it has nothing else."""
    parts = tuple(_PART.findall(word))
    return tuple(part for part in parts if _START.match(part)) or parts


def of_word(character: str) -> bool:
    """Whether it is a letter, a mark that belongs to a letter (a vowel sign of Hindi), or a digit."""
    return unicodedata.category(character)[0] in "LMN"


def has_letters(text: str) -> bool:
    """Whether a text has any character ``of_word``; subword markers are none."""
    return any(map(of_word, text))


@functools.lru_cache(2**16)
def bare(word: str) -> str:
    """A word in lower case without the punctuation around it; a word that is only punctuation stays."""
    inside = [place for place, character in enumerate(word) if of_word(character)]
    return word[inside[0] : inside[-1] + 1].lower() if inside else word


def word_spans(text: str) -> List[Tuple[int, int]]:
    """Where the white-space words of a text begin and end (the place after the last character)."""
    return [match.span() for match in _SPACED.finditer(text)]
