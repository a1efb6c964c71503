"""What a page is made of; the template knows how each is drawn."""

from dataclasses import dataclass
from typing import Any, ClassVar, Mapping, NamedTuple, Optional, Sequence, Tuple


class Cell(NamedTuple):
    """Of a table.

    Attributes:
        stars: of significance.
        share: the length of a bar below the text, of 100; None: no bar.
    """

    text: str
    stars: str = ""
    share: Optional[float] = None


@dataclass(frozen=True)
class Table:
    """Rows of cells or text, of which the first is the row's name."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""


def side_by_side(columns: Mapping[str, Mapping[str, Any]], caption: str = "", corner: str = "") -> Table:
    """A table from column -> row -> cell."""
    names = dict.fromkeys(row for column in columns.values() for row in column)
    rows = [[name, *(column.get(name, "-") for column in columns.values())] for name in names]
    return Table([corner, *columns], rows, caption)


@dataclass(frozen=True)
class Image:
    """A picture and what it shows."""

    kind: ClassVar[str] = "image"
    caption: str
    data: str


@dataclass(frozen=True)
class Example:
    """A sentence and what systems made of it: its context, and (name, text, remark) of each."""

    kind: ClassVar[str] = "example"
    title: str
    context: Sequence[str]
    source: str
    rows: Sequence[Tuple[str, str, str]]


@dataclass(frozen=True)
class Lines:
    """Text as it was typed."""

    kind: ClassVar[str] = "lines"
    lines: Sequence[str]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page; the note says what its numbers are."""

    title: str
    blocks: Sequence[Any]
    note: str = ""
