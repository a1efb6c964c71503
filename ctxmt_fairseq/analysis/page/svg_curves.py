"""Curves of the page, drawn as SVG: the page stays small and loads nothing for them."""

import itertools
import math
from dataclasses import dataclass
from typing import Callable, ClassVar, Iterable, List, NamedTuple, Sequence, Tuple

from ctxmt_fairseq.base.plots.charts import Point, in_order, place_name

COLOURS = 8  # see style.css
LETTER = 7  # the width of a letter below the axis, with some room
LARGEST = 1e100  # larger values are not drawn
LEFT, RIGHT, TOP, BOTTOM = 58, 336, 10, 186  # the frame
Place = Tuple[float, float]  # in the drawing


class Curve(NamedTuple):
    """A system's points from left to right, and the corners of its band if all points have one."""

    system: str
    colour: int
    points: List[Place]
    band: List[Place]


@dataclass(frozen=True)
class Chart:
    """Curves of one measure, with labels at places on the vertical (``grid``) and other axis (``ticks``)."""

    kind: ClassVar[str] = "chart"
    WIDTH: ClassVar[int] = 360  # units of the drawing, which takes the width that there is
    HEIGHT: ClassVar[int] = 220
    LEFT: ClassVar[int] = LEFT - 10
    BOTTOM: ClassVar[int] = BOTTOM
    caption: str
    x: str
    y: str
    curves: List[Curve]
    grid: List[Tuple[float, str]]
    ticks: List[Tuple[float, str]]


def drawable(point: Point) -> Point:
    """The point; TypeError or ValueError if something in it is no number, or too large."""
    places = () if isinstance(point.place, str) else (point.place,)
    if not all(abs(number) < LARGEST for number in (*places, point.value, *point.band)):
        raise ValueError(f"expected numbers below {LARGEST:g}")
    return point


def curve_chart(caption: str, points: Sequence[Point], across: str) -> Chart:
    """The chart of one measure's points; places with names are at equal distances."""
    places = in_order(point.place for point in points)
    named = any(isinstance(place, str) for place in places)
    at = {place: float(number if named else place) for number, place in enumerate(places)}
    steps = _steps(*_wide(bound for point in points for bound in (point.value, *point.band)))
    right, up = _scale(*_wide(at.values()), LEFT, RIGHT), _scale(steps[0], steps[-1], BOTTOM, TOP)
    curves = []
    for number, system in enumerate(dict.fromkeys(point.system for point in points)):
        line = [point for point in points if point.system == system]
        line.sort(key=lambda point: at[point.place])
        band: List[Place] = []
        if all(point.low is not None for point in line):
            band = [(right(at[point.place]), up(point.band[0])) for point in line]
            band += [(right(at[point.place]), up(point.band[1])) for point in reversed(line)]
        drawn = [(right(at[point.place]), up(point.value)) for point in line]
        curves.append(Curve(system, number % COLOURS, drawn, band))
    ticks = [(right(at[place]), place_name(place)) for place in places]
    apart = min((later - here for (here, _), (later, _) in itertools.pairwise(ticks)), default=math.inf)
    if apart < LETTER * max(len(name) for _, name in ticks):
        ticks = [ticks[0], ticks[-1]]
    return Chart(
        caption, across, points[0].measure, curves,
        [(up(step), f"{round(step, 9):g}") for step in steps],
        ticks,
    )  # fmt: skip


def _wide(values: Iterable[float]) -> Tuple[float, float]:
    """The least and the greatest, moved apart where they are equal."""
    values = list(values)
    low, high = min(values), max(values)
    apart = 0.5 if abs(high) < 1e6 else abs(high) / 10
    return (low, high) if high - low > 1e-9 * max(1, abs(high)) else (low - apart, high + apart)


def _steps(low: float, high: float) -> List[float]:
    """Round numbers, of which the first and the last enclose all values."""
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    wanted = (high - low) / 4 * (1 - 1e-6)  # 100.00000001 is 100
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= wanted)
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    return [step * number for number in range(first, last + 1)]


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From values to places in the drawing, rounded to a tenth."""
    return lambda value: round(start + (value - low) / (high - low) * (end - start), 1)
