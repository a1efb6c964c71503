"""What a page is made of; the template knows how each is drawn."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, List, Optional, Sequence, Tuple

COLOURS = 8  # of lines, see style.css


@dataclass(frozen=True)
class Cell:
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
    """Rows whose first cell is their name."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""


@dataclass(frozen=True)
class Line:
    """A curve: its name and its points, x ascending; with a band (low, high) of each point or none."""

    name: str
    points: Sequence[Tuple[float, float]]
    band: Sequence[Tuple[float, float]] = ()


@dataclass(frozen=True)
class Chart:
    """Curves over the same axes.

    Attributes:
        ticks: places on the x axis and what stands there.
    """

    kind: ClassVar[str] = "chart"
    caption: str
    x: str
    y: str
    lines: Sequence[Line]
    ticks: Sequence[Tuple[float, str]]

    WIDTH: ClassVar[int] = 360  # units of the drawing, which takes the width that there is
    HEIGHT: ClassVar[int] = 220
    LEFT: ClassVar[int] = 48
    BOTTOM: ClassVar[int] = 34
    EDGE: ClassVar[int] = 10
    RIGHT: ClassVar[int] = 24  # half of the last tick's text

    @cached_property
    def _across(self) -> Tuple[float, float]:
        """The range of x."""
        return _wide(min(map(_first, self._points)), max(map(_first, self._points)))

    @cached_property
    def _up(self) -> Tuple[float, float, float]:
        """The range of y, from a line of the grid to another, and how far its lines are apart."""
        values = [y for _, y in self._points]
        values += [value for line in self.lines for band in line.band for value in band]
        low, high = _wide(min(values), max(values))
        power = 10.0 ** math.floor(math.log10((high - low) / 4))
        wanted = (high - low) / 4 * (1 - 1e-6)  # 100.00000001 is 100
        step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= wanted)
        return math.floor(low / step + 1e-6) * step, math.ceil(high / step - 1e-6) * step, step

    @property
    def _points(self) -> List[Tuple[float, float]]:
        return [point for line in self.lines for point in line.points]

    def place(self, x: float, y: float) -> Tuple[float, float]:
        """Where a point is drawn, rounded to a tenth."""
        (left, right), (low, high, _) = self._across, self._up
        width = self.WIDTH - self.LEFT - self.EDGE - self.RIGHT
        height = self.HEIGHT - self.BOTTOM - self.EDGE
        across = self.LEFT + self.EDGE + (x - left) / (right - left) * width
        up = self.HEIGHT - self.BOTTOM - (y - low) / (high - low) * height
        return round(across, 1), round(up, 1)

    def path(self, line: Line) -> str:
        """The points of a curve, for a polyline."""
        return _corners(self.place(*point) for point in line.points)

    def area(self, line: Line) -> str:
        """The corners of its band, for a polygon."""
        places = [x for x, _ in line.points]
        low = [(x, low) for x, (low, _) in zip(places, line.band, strict=True)]
        high = [(x, high) for x, (_, high) in zip(places, line.band, strict=True)]
        return _corners(self.place(*point) for point in [*low, *reversed(high)])

    def grid(self) -> List[Tuple[float, str]]:
        """Heights of lines across, and the values there."""
        low, high, step = self._up
        values = [low + step * number for number in range(round((high - low) / step) + 1)]
        return [(self.place(self._across[0], value)[1], f"{round(value, 9):g}") for value in values]


def _first(point: Tuple[float, float]) -> float:
    return point[0]


def _wide(low: float, high: float) -> Tuple[float, float]:
    """A range, of which equal ends are moved apart."""
    return (low, high) if high - low > 1e-9 else (low - 0.5, high + 0.5)


def _corners(places: Any) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


@dataclass(frozen=True)
class Image:
    """A picture and what it shows."""

    kind: ClassVar[str] = "image"
    caption: str
    data: str
    width: int
    height: int


@dataclass(frozen=True)
class Example:
    """A sentence and what systems made of it: its context, and (name, text, remark) of each."""

    title: str
    context: Sequence[str]
    source: str
    rows: Sequence[Tuple[str, str, str]]


@dataclass(frozen=True)
class Examples:
    kind: ClassVar[str] = "examples"
    examples: Sequence[Example]


@dataclass(frozen=True)
class Lines:
    """Text as it was typed."""

    kind: ClassVar[str] = "lines"
    lines: Sequence[str]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        note: what its numbers are.
        folded: shown when it is opened.
    """

    title: str
    blocks: Sequence[Any]
    note: str = ""
    folded: bool = field(default=False)
