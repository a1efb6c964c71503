"""Whether a phrase occurs in a translation, and what the phrases found there say of an attribute."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Optional, Sequence

from ctxmt_fairseq.corpora.linguistics.words import of_word

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
    """Of one translation's attributes together: the worst that one of them is, ``NEITHER`` aside."""
    return next((worst for worst in (WRONG, BOTH, RIGHT) if worst in outcomes), NEITHER)


@dataclass(frozen=True)
class OutcomeCount:
    """How many translations are right, wrong, both or neither."""

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
        """Those that are right or wrong."""
        return self.right + self.wrong

    @property
    def accuracy(self) -> Optional[float]:
        """Right ones among those that are decided, in percent; None if none is."""
        return 100 * self.right / self.decided if self.decided else None

    def as_dict(self) -> Dict[str, Any]:
        return {"examples": self.examples, **vars(self), "accuracy": self.accuracy}

    def cells(self) -> Dict[str, Any]:
        """For a table with ``COUNTS``; ``shown`` is the accuracy."""
        return {**vars(self), "shown": percent(self.accuracy)}


def mean(accuracies: Sequence[Optional[float]]) -> Optional[float]:
    """The mean in percent; None if there is nothing, or nothing was decided in one of them."""
    known = [accuracy for accuracy in accuracies if accuracy is not None]
    return sum(known) / len(known) if known and len(known) == len(accuracies) else None


def percent(accuracy: Optional[float]) -> str:
    """An accuracy as a cell of a table."""
    return "-" if accuracy is None else f"{accuracy:.2f}"
