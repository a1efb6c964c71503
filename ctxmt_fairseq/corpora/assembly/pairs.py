"""What every kind of corpus is made of, and the account of what was left out."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence


class Pair(NamedTuple):
    """A line of a corpus.

    Attributes:
        document: the document's id; a document is a run of equal ids.
        current: False for a line that serves as context only.
        metadata: text by field.
    """

    source: str
    target: str
    document: str
    current: bool = True
    metadata: Mapping[str, str] = {}


@dataclass
class Account:
    """Where the input went: ``read`` is what was kept and what was left out for each reason.

    Attributes:
        read: units of the input (links, lines, ..).
        kept: lines of the corpus.
        left_out: reason -> units.
        remarks: what happened to units without leaving them out, such as times that were interpolated.
        broken: files that could not be read, in words (``--skip-broken``).
    """

    read: int = 0
    kept: int = 0
    left_out: Counter = field(default_factory=Counter)
    remarks: Counter = field(default_factory=Counter)
    broken: List[str] = field(default_factory=list)

    def add(self, other: "Account") -> None:
        """Take in the account of another part of the input."""
        self.read += other.read
        self.kept += other.kept
        self.left_out += other.left_out
        self.remarks += other.remarks
        self.broken += other.broken

    @property
    def balanced(self) -> bool:
        """Whether nothing was lost without a reason."""
        return self.read == self.kept + sum(self.left_out.values())

    def as_dict(self) -> Dict[str, Any]:
        """For JSON."""
        return {
            "read": self.read,
            "kept": self.kept,
            "left_out": dict(sorted(self.left_out.items())),
            "remarks": dict(sorted(self.remarks.items())),
            "broken": self.broken,
        }


class Part(NamedTuple):
    """What one piece of work yields: lines in order, and their account."""

    pairs: List[Pair]
    account: Account

    def __reduce__(self) -> Any:
        """Goes from process to process as columns: a quarter of the time that thousands of pairs take."""
        return _part, (list(zip(*self.pairs, strict=True)), self.account)


def _part(columns: Sequence[Sequence[Any]], account: Account) -> Part:
    return Part(list(map(Pair._make, zip(*columns, strict=True))), account)
