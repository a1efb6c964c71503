"""The parts of every corpus: pairs in documents without holes, and the account of what was left out."""

import re
from collections import Counter
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Sequence

from ctxmt_fairseq.text.text_lines import is_text

_NOTHING: Mapping[str, str] = {}
_FOLDED = {  # what stands for more than a blank
    "with a tab, read as a blank": re.compile("\t"),
    "with a no-break or ideographic space, read as a blank": re.compile("[\u00a0\u202f\u3000]"),
}
_RUNS = re.compile(r"(?:#\d+)+$")


class Pair(NamedTuple):
    """A line of a corpus; a run of equal ids is a document; what is not ``current`` is only context. ``line``
    is where it was read, from 1; 0: it is new."""

    source: str
    target: str
    document: str
    current: bool = True
    metadata: Mapping[str, str] = _NOTHING
    line: int = 0


class Account:
    """Says where the input went: ``read`` is the sum of what was kept and what was left out for each reason.

    Attributes:
        read: the number of units of the input (links, lines, ..).
        kept: the number of lines of the corpus.
        left_out: reason -> number of units.
        remarks: what happened to units that were kept, such as times that were interpolated -> their number.
        broken: the errors of units that could not be read (``--skip-broken``).
    """

    def __init__(
        self, read: int = 0, kept: int = 0, left_out: Any = (), remarks: Any = (), broken: Iterable[str] = ()
    ):
        self.read, self.kept = read, kept
        self.left_out, self.remarks, self.broken = Counter(left_out), Counter(remarks), list(broken)

    def leave_out(self, reason: str, units: int = 1, error: object = "") -> None:
        """Count units that are not kept; an ``error`` of broken ones is listed."""
        self.read += units
        self.left_out[reason] += units
        self.broken += [str(error)] if str(error) else []

    def add(self, other: "Account") -> None:
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
        left_out, remarks = (dict(sorted(counts.items())) for counts in (self.left_out, self.remarks))
        return {**vars(self), "left_out": left_out, "remarks": remarks}


class Part(NamedTuple):
    """The result of a piece of work: the pairs of whole documents, in order, and their account."""

    pairs: List[Pair]
    account: Account


def part_of(read: int, kept: List[Pair], reason: str = "", remarks: Any = ()) -> Part:
    """Make the part of the lines that are kept of ``read``; the others were left out for this reason."""
    left_out = {reason: read - len(kept)} if read > len(kept) else ()
    return Part(kept, Account(read, len(kept), left_out, remarks))


class DocumentBuilder:
    """Collects the lines of one document of the input, also those that are empty on a side if ``keep_empty``
    (as in a test set, whose lines count). Context never crosses a hole, so the lines after it are a document
    of their own, ``NAME/2``, ``NAME/3``."""

    def __init__(self, name: str, account: Account, keep_empty: bool = False):
        self.name, self.account, self.keep_empty = name, account, keep_empty
        self.pairs: List[Pair] = []
        self._number, self._id, self._hole = 1, name, False

    def add(
        self, source: str, target: str, metadata: Mapping[str, str] = _NOTHING, current: bool = True
    ) -> None:
        """Add a unit of the input, with its blanks folded, unless it must be left out; a line that is only
        context may be empty on one of its sides."""
        if not (is_text(source) and is_text(target)):
            self.leave_out("not UTF-8")
            return
        for remark, blank in _FOLDED.items():
            if blank.search(source.strip()) or blank.search(target.strip()):
                self.account.remarks[remark] += 1
        source, target = " ".join(source.split()), " ".join(target.split())
        if not (source and target or (source or target) and not current or self.keep_empty):
            self.leave_out("empty")
            return
        if self._hole and self.pairs:
            self._number += 1
            self._id = f"{self.name}/{self._number}"
        self._hole = False
        self.pairs.append(Pair(source, target, self._id, current, metadata))
        self.account.read += 1
        self.account.kept += 1

    def leave_out(self, reason: str, units: int = 1, error: object = "") -> None:
        """Count units that are not kept (``Account.leave_out``), and end the document there."""
        self.account.leave_out(reason, units, error)
        self._hole = True

    def hole(self) -> None:
        """Say that what follows does not belong to what was before."""
        self._hole = True

    def part(self) -> Part:
        return Part(self.pairs, self.account)


def distinct(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts, each of one ``DocumentBuilder``; documents of one name get numbers that go on.

    OPUS aligns some files with several of the other language. Their documents would have the same ids, and
    become one if they followed each other.
    """
    numbers: Counter = Counter()
    for pairs, account in parts:
        ids = list(dict.fromkeys(pair.document for pair in pairs))
        before = numbers[ids[0]] if ids else 0
        if before:
            new = {old: f"{ids[0]}/{number}" for number, old in enumerate(ids, before + 1)}
            pairs = [pair._replace(document=new[pair.document]) for pair in pairs]
        if ids:
            numbers[ids[0]] += len(ids)
        yield Part(pairs, account)


def runs(document: Sequence[Pair], places: Iterable[int]) -> List[Pair]:
    """Keep the lines at ``places``; after each gap their document is ``NAME#2``, ``NAME#3``, .."""
    kept: List[Pair] = []
    number, previous = 1, -1
    for place in sorted(places):
        number += bool(kept) and place != previous + 1
        previous = place
        name = document[place].document + (f"#{number}" if number > 1 else "")
        kept.append(document[place]._replace(document=name))
    return kept


def whole_document(name: str) -> str:
    """The id of the document that a run belongs to, also a run of a run."""
    return _RUNS.sub("", name)
