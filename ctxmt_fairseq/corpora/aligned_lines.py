"""Two files of plain text, line by line, and where their documents end."""

import itertools
from pathlib import Path
from typing import Iterable, Iterator, NamedTuple, Optional, Union

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.raw.line_files import lines_together
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
CANARY = "canary"  # the domain of WMT24's line that is to be kept out of training text


class Line(NamedTuple):
    """A line of both sides.

    Attributes:
        document: its id; None for a line that belongs to none.
    """

    source: str
    target: str
    document: Optional[str]


def documents_by_blank_lines(source: PathLike, target: PathLike) -> Iterator[Part]:
    """News-Commentary, Europarl v10: a line that is blank on both sides ends a document; documents are
    numbered.

    Raises:
        BadInput: files that cannot be read, or of different lengths.
    """

    def lines() -> Iterator[Line]:
        number, inside = 0, False
        for first, second in lines_together(source, target):
            blank = not (first.strip() or second.strip())
            number += not blank and not inside
            inside = not blank
            yield Line(first, second, None if blank else str(number))

    return _documents(lines(), "blank lines between documents", keep_empty=False)


def documents_by_names(source: PathLike, target: PathLike, names: PathLike) -> Iterator[Part]:
    """WMT24's plain text: ``names`` has the domain, a tab and the document's id of every line.

    Its canary, a line that must not get into training text, is left out; all other lines are kept.

    Raises:
        BadInput: files that cannot be read, or of different lengths; a name that is not of this form.
    """

    def lines() -> Iterator[Line]:
        for number, (first, second, name) in enumerate(lines_together(source, target, names), 1):
            domain, tab, document = name.partition("\t")
            if not (domain.strip() and tab and document.strip()):
                raise BadInput(f"expected a domain, a tab and a document's id, found {name!r}", names, number)
            yield Line(first, second, None if domain == CANARY else document.strip())

    return _documents(lines(), CANARY, keep_empty=True)


def _documents(lines: Iterable[Line], between: str, keep_empty: bool) -> Iterator[Part]:
    """A part per document; lines that belong to none are left out as ``between``."""
    for name, group in itertools.groupby(lines, key=lambda line: line.document):
        builder = DocumentBuilder(name or "", Account(), keep_empty)
        for line in group:
            if name is None:
                builder.leave_out(between)
            else:
                builder.add(line.source, line.target)
        yield builder.part()
