"""The parts of a page; the template draws each kind."""

from dataclasses import dataclass
from typing import Any, ClassVar, List, Mapping, NamedTuple, Optional, Sequence, Tuple


class Cell(NamedTuple):
    """A cell of a table; ``share``, 0 to 100, is the length of a bar below the text (None: no bar)."""

    text: str
    stars: str = ""
    share: Optional[float] = None


@dataclass(frozen=True)
class Table:
    """Rows of cells or text; the first in a row is its name."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""


def side_by_side(columns: Mapping[str, Mapping[str, Any]], caption: str = "", corner: str = "") -> Table:
    """A table from nested mappings: column -> row -> cell."""
    names = dict.fromkeys(row for column in columns.values() for row in column)
    rows = [[name, *(column.get(name, "-") for column in columns.values())] for name in names]
    return Table([corner, *columns], rows, caption)


@dataclass(frozen=True)
class Image:
    """A picture (a data URL) and its caption."""

    kind: ClassVar[str] = "image"
    caption: str
    data: str


@dataclass(frozen=True)
class Example:
    """A sentence with its context, and (name, text, remark, target context) for each system or candidate."""

    kind: ClassVar[str] = "example"
    title: str
    context: Sequence[str]
    source: str
    rows: Sequence[Tuple[str, str, str, Sequence[str]]]


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown when somebody asks for them."""

    kind: ClassVar[str] = "fold"
    title: str
    blocks: Sequence[Any]


def folded(blocks: Sequence[Any], shown: int, title: str) -> List[Any]:
    """The first blocks, and the others in a fold."""
    rest = blocks[shown:]
    return [*blocks[:shown], *([Fold(f"{len(rest)} more: {title}", rest)] if rest else [])]


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
