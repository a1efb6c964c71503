"""Whether a phrase occurs in a translation."""

import unicodedata
from typing import Callable

Occurs = Callable[[str, str], bool]  # (phrase, text)


def in_surface_form(occurs: Occurs, surface: Callable[[str], str]) -> Occurs:
    """The same for phrases and texts after ``surface``: output of a lower-cased model has no capitals."""
    return lambda phrase, text: occurs(surface(phrase), surface(text))


def words_among(phrase: str, text: str) -> bool:
    """All words of the phrase are words of the text, in whatever order and place.

    The rule of the IWSLT 2022 formality task's scorer, by which published accuracies were measured. Words are
    what stands between spaces, so a word with punctuation attached is another word.
    """
    return set(phrase.split(" ")) <= set(text.split(" "))


def anywhere(phrase: str, text: str) -> bool:
    """The phrase is part of the text: the same scorer's rule for languages written without spaces."""
    return phrase in text


def whole_words(phrase: str, text: str) -> bool:
    """The phrase is part of the text and neither continues nor is continued by a word there.

    An elided word ends with its apostrophe: "t'" occurs in "je t'aime".
    """
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_inside_word(text, at) or _inside_word(text, end)):
            return True
        at = text.find(phrase, at + 1)
    return False


def _inside_word(text: str, at: int) -> bool:
    """Whether the characters before and after a position belong to one word."""
    return 0 < at < len(text) and _of_word(text[at - 1]) and _of_word(text[at])


def _of_word(character: str) -> bool:
    """Letters, the marks that belong to them (vowel signs of Hindi) and digits."""
    return unicodedata.category(character)[0] in "LMN"
