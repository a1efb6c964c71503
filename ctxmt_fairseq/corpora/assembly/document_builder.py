"""Lines to documents without holes: what is left out ends a document, and is counted."""

from typing import List, Mapping

from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.data.symbols import MASK, SEPARATOR

_NOTHING: Mapping[str, str] = {}


class DocumentBuilder:
    """Collects the lines of one document of the input.

    Context never crosses a hole: the lines after it are a document of their own, ``NAME/2``, ``NAME/3``, ..

    Args:
        name: the document's id.
        account: of the piece of work that it belongs to.
        keep_empty: lines that are empty on a side are kept, as in a test set, whose lines are numbered.
    """

    def __init__(self, name: str, account: Account, keep_empty: bool = False):
        self.name, self.account, self.keep_empty = name, account, keep_empty
        self.pairs: List[Pair] = []
        self._number, self._id = 1, name
        self._hole = False

    def add(self, source: str, target: str, metadata: Mapping[str, str] = _NOTHING) -> None:
        """Take in a unit of the input, blanks of any kind folded, unless it must be left out."""
        self.add_folded(" ".join(source.split()), " ".join(target.split()), metadata)

    def add_folded(self, source: str, target: str, metadata: Mapping[str, str] = _NOTHING) -> None:
        """Take in a unit of the input whose blanks are folded already."""
        if source and target or self.keep_empty:
            self._add(source, target, True, metadata)
        else:
            self.leave_out("empty")

    def add_context(self, source: str, target: str) -> None:
        """Take in a line that serves as context only, blanks folded; one side may be empty."""
        source, target = " ".join(source.split()), " ".join(target.split())
        if source or target:
            self._add(source, target, False, _NOTHING)
        else:
            self.leave_out("empty")

    def _add(self, source: str, target: str, current: bool, metadata: Mapping[str, str]) -> None:
        for symbol in (SEPARATOR, MASK):
            if symbol in source or symbol in target:
                self.leave_out(f"with the symbol {symbol}")
                return
        if self._hole and self.pairs:
            self._number += 1
            self._id = f"{self.name}/{self._number}"
        self._hole = False
        self.pairs.append(Pair(source, target, self._id, current, metadata))
        self.account.read += 1
        self.account.kept += 1

    def leave_out(self, reason: str, units: int = 1) -> None:
        """Count units that are not kept, and end the document there."""
        self.account.read += units
        self.account.left_out[reason] += units
        self.hole()

    def hole(self) -> None:
        """What follows does not belong to what was before."""
        self._hole = True

    def part(self) -> Part:
        """The lines, and the account."""
        return Part(self.pairs, self.account)
