"""What the forms found in a translation say of one attribute, counted over many translations."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Optional, Sequence

from ctxmt_fairseq.evaluation.attribute_control.phrases import Occurs

RIGHT, WRONG, BOTH, NEITHER = "right", "wrong", "both", "neither"


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


def mean(accuracies: Sequence[Optional[float]]) -> Optional[float]:
    """The mean in percent; None if there is nothing, or nothing was decided in one of them."""
    known = [accuracy for accuracy in accuracies if accuracy is not None]
    return sum(known) / len(known) if known and len(known) == len(accuracies) else None


def percent(accuracy: Optional[float]) -> str:
    """An accuracy as a cell of a table."""
    return "-" if accuracy is None else f"{accuracy:.2f}"
