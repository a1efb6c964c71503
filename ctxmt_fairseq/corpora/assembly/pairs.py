"""What every kind of corpus is made of, and the account of what was left out."""

import itertools
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Tuple, Union


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


@dataclass(frozen=True)
class Lines:
    """Pairs as the files of a corpus hold them: a few long strings in place of thousands of objects, which go
    from process to process in a small part of the time.

    Attributes:
        source, target: text, every line with its end.
        documents: ids in order, and the number of lines of each.
        current: a line for each pair: 1, or 0 for one that serves as context only.
        metadata: a JSON object for each pair.
    """

    source: bytes
    target: bytes
    documents: Tuple[Tuple[str, int], ...]
    current: bytes
    metadata: bytes

    @classmethod
    def of(cls, pairs: "Pairs") -> "Lines":
        """Pairs, if they are not lines already."""
        if isinstance(pairs, cls):
            return pairs
        columns = zip(*pairs, strict=True) if pairs else [()] * len(Pair._fields)
        sources, targets, documents, current, metadata = columns
        return cls(
            _joined(sources),
            _joined(targets),
            tuple((name, sum(1 for _ in run)) for name, run in itertools.groupby(documents)),
            _joined("1" if one else "0" for one in current),
            _joined(json.dumps(dict(one), ensure_ascii=False) if one else "{}" for one in metadata),
        )

    def __len__(self) -> int:
        return sum(size for _, size in self.documents)

    def __iter__(self) -> Iterator[Pair]:
        ids = (name for name, size in self.documents for _ in range(size))
        current = (mark == "1" for mark in _split(self.current))
        metadata = map(json.loads, _split(self.metadata))
        columns = _split(self.source), _split(self.target), ids, current, metadata
        return map(Pair._make, zip(*columns, strict=True))


Pairs = Union[List[Pair], Lines]


def _joined(lines: Iterable[str]) -> bytes:
    return "\n".join([*lines, ""]).encode()


def _split(text: bytes) -> List[str]:
    return text.decode().split("\n")[:-1]


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
    """What one piece of work yields: pairs in order, as ``Lines`` if another process made them, and their
    account."""

    pairs: Pairs
    account: Account

    def __reduce__(self) -> Any:
        """Goes from process to process as lines."""
        return Part, (Lines.of(self.pairs), self.account)
