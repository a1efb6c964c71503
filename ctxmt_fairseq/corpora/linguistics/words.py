"""Words apart from punctuation, in any script."""

import functools
import unicodedata
from typing import Tuple

import regex

_CHARACTERS = r"[^\s\p{P}\p{S}]+"  # with the marks that Python's \w leaves out, such as vowel signs
_MARK = r"[\p{P}\p{S}]"
# A word with its hyphens and apostrophes, or a single mark. All but blanks is in one.
WORD = regex.compile(rf"{_CHARACTERS}(?:[-'’]{_CHARACTERS})*|{_MARK}")
_PART = regex.compile(rf"{_CHARACTERS}['’]?|{_MARK}")  # l'|homme
_START = regex.compile(_CHARACTERS)


@functools.lru_cache(2**16)
def lexical_parts(word: str) -> Tuple[str, ...]:
    """The parts of a white-space word between its marks; of a word of marks alone the marks."""
    parts = tuple(_PART.findall(word))
    return tuple(part for part in parts if _START.match(part)) or parts


@functools.lru_cache(2**16)
def bare(word: str) -> str:
    """A word in lower case, without punctuation around it; punctuation alone stays."""
    inside = [place for place, character in enumerate(word) if unicodedata.category(character)[0] in "LNM"]
    return word[inside[0] : inside[-1] + 1].lower() if inside else word
