"""Decides whether a phrase occurs in a translation, and what the phrases in it tell of an attribute."""

import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Optional, Sequence

from ctxmt_fairseq.corpora.linguistics.words import of_word

Occurs = Callable[[str, str], bool]  # (phrase, text)


def in_surface_form(occurs: Occurs, surface: Callable[[str], str]) -> Occurs:
    """Compare phrases and texts in their surface form, because a lower-cased model's output has no capitals,
    and with composed characters, because an accent may be a character of its own."""

    def form(text: str) -> str:
        return unicodedata.normalize("NFC", surface(text))

    return lambda phrase, text: occurs(form(phrase), form(text))


def words_among(phrase: str, text: str) -> bool:
    """Whether all words of the phrase are words of the text, in any order and place.

    The scorer of the IWSLT 2022 formality task, with which published accuracies were measured, has this rule.
    Spaces separate words, so that a word with punctuation attached is another word.
    """
    return set(phrase.split(" ")) <= set(text.split(" "))


def anywhere(phrase: str, text: str) -> bool:
    """Whether the phrase is part of the text: the same scorer's rule for languages written without spaces."""
    return phrase in text


def whole_words(phrase: str, text: str) -> bool:
    """Whether the phrase is in the text as whole words.

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
    return 0 < at < len(text) and of_word(text[at - 1]) and of_word(text[at])


RIGHT, WRONG, BOTH, NEITHER = "right", "wrong", "both", "neither"
COUNTS = {name: f"{{{name}}}" for name in (RIGHT, WRONG, BOTH, NEITHER)}  # columns of a table


def outcome(text: str, expected: Iterable[str], wrong: Iterable[str], occurs: Occurs) -> str:
    """``RIGHT``: expected phrases occur and no wrong one; ``WRONG``: the reverse; ``BOTH``; ``NEITHER``."""
    is_right = any(occurs(phrase, text) for phrase in expected)
    is_wrong = any(occurs(phrase, text) for phrase in wrong)
    if is_right:
        return BOTH if is_wrong else RIGHT
    return WRONG if is_wrong else NEITHER


def joint_outcome(outcomes: Sequence[str]) -> str:
    """The outcome of all attributes of a translation together: the worst among them, without ``NEITHER``."""
    return next((worst for worst in (WRONG, BOTH, RIGHT) if worst in outcomes), NEITHER)


@dataclass(frozen=True)
class OutcomeCount:
    """How many translations are right, wrong, both, and neither."""

    right: int = 0
    wrong: int = 0
    both: int = 0
    neither: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[str]) -> "OutcomeCount":
        return cls(**Counter(outcomes))

    @property
    def examples(self) -> int:
        return self.right + self.wrong + self.both + self.neither

    @property
    def decided(self) -> int:
        """How many are right or wrong."""
        return self.right + self.wrong

    @property
    def accuracy(self) -> Optional[float]:
        """The share of right ones among those that are decided, in percent; None if none is."""
        return 100 * self.right / self.decided if self.decided else None

    def as_dict(self) -> Dict[str, Any]:
        return {"examples": self.examples, **vars(self), "accuracy": self.accuracy}

    def cells(self) -> Dict[str, Any]:
        """The cells of a table with the columns ``COUNTS``; ``shown`` is the accuracy."""
        return {**vars(self), "shown": percent(self.accuracy)}


def mean(accuracies: Sequence[Optional[float]]) -> Optional[float]:
    """The mean of accuracies in percent; None if there are none, or one of them is None."""
    known = [accuracy for accuracy in accuracies if accuracy is not None]
    return sum(known) / len(known) if known and len(known) == len(accuracies) else None


def percent(accuracy: Optional[float]) -> str:
    """An accuracy as a cell of a table."""
    return "-" if accuracy is None else f"{accuracy:.2f}"
