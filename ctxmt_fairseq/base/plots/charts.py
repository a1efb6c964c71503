"""Charts of lines and bars, drawn from the same points that CSV and JSON hold."""

import statistics
import textwrap
from math import floor, inf, log10
from types import MappingProxyType
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.plots.drawing import content, drawing

Place = Union[int, float, str]
WIDTH, HEIGHT = 6.6, 2.7  # inches of a panel
CHARACTERS = 88  # in a line of the title, and in all names below the axis


class Point(NamedTuple):
    """A value at a place on the horizontal axis, of a system's line or bar in the panel of its measure, and
    its band, if it has one: the lowest and highest value of several runs, or an interval."""

    measure: str
    system: str
    place: Place
    value: float
    low: Optional[float] = None
    high: Optional[float] = None

    @property
    def band(self) -> Tuple[float, float]:
        """The band; without one, the value itself twice."""
        return self.value if self.low is None else self.low, self.value if self.high is None else self.high


def points_of_runs(values: Iterable[Any]) -> List[Point]:
    """A point for each measure, system and place: the mean, and the lowest and highest of several values."""
    found = grouped(((one.measure, one.system, one.place), one.value) for one in values)
    bands = {key: [min(runs), max(runs)] if len(runs) > 1 else [None, None] for key, runs in found.items()}
    return [Point._make([*key, statistics.fmean(runs), *bands[key]]) for key, runs in found.items()]


def chart_records(points: Sequence[Point], across: str, each: str = "system") -> List[Dict[str, Any]]:
    """The points as records for JSON and CSV; ``each`` names what has a line or bar."""
    keys = ("measure", each, across, "value", "low", "high")
    return [dict(zip(keys, point, strict=True)) for point in points]


def in_order(places: Iterable[Place]) -> List[Place]:
    """Each place once: numbers ascending, then names in the order of their appearance."""
    return sorted(dict.fromkeys(places), key=lambda place: inf if isinstance(place, str) else place)


def place_name(place: Place) -> str:
    """A place as tables and pictures write it; other places have other names."""
    return place if isinstance(place, str) else f"{place:.15g}"


def draw_chart(
    points: Sequence[Point],
    across: Union[str, Mapping[str, str]],
    title: str = "",
    bars: bool = False,
    evenly: bool = False,
    bases: Mapping[str, float] = MappingProxyType({}),
    logarithmic: Sequence[str] = (),
    kind: str = "png",
) -> bytes:
    """A chart with a panel for each measure, one below the other, as the content of a file.

    A system has the same colour in all panels. There is no legend if every measure has one line, of its own
    name.

    Args:
        across: the name of the horizontal axis that all panels share, with its unit; or measure -> name of
            its axis.
        bars: draw a bar for each system at every place, from 0, with its value above; otherwise lines with
            markers.
        evenly: put places at equal distances, whatever their numbers are; with bars or names they always are.
        bases: measure -> the height of a horizontal line.
        logarithmic: the measures with a logarithmic axis.
        kind: of the file, png or svg. The same points give the same bytes.
    """
    measures = list(dict.fromkeys(point.measure for point in points))
    colours = {name: number for number, name in enumerate(dict.fromkeys(point.system for point in points))}
    shared = isinstance(across, str)
    names = [across] * len(measures) if isinstance(across, str) else [across[one] for one in measures]
    labels = {place_name(point.place) for point in points}
    with drawing([title, *measures, *colours, *names, *labels]):
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogFormatter

        figure = Figure(figsize=(WIDTH, HEIGHT * len(measures)))
        apart = {"hspace": 0.2 if shared else 0.4}
        axes: Any = figure.subplots(len(measures), sharex=shared, squeeze=False, gridspec_kw=apart)[:, 0]
        handles: Dict[str, Any] = {}
        for axis, measure, name in zip(axes, measures, names, strict=True):
            own = [point for point in points if point.measure == measure]
            places = in_order(point.place for point in (points if shared else own))
            side_by_side = evenly or bars or any(isinstance(place, str) for place in places)
            at = {place: number if side_by_side else float(place) for number, place in enumerate(places)}
            handles |= _panel(axis, own, at, colours, bars)
            axis.set_ylabel(textwrap.fill(measure, 34))
            if measure in bases:
                axis.axhline(bases[measure], color="black", linewidth=0.8)
            if measure in logarithmic:
                axis.set_yscale("log")
                axis.yaxis.set_major_formatter("{x:g}")
                axis.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.4)))
            if not shared or axis is axes[-1]:
                axis.set_xlabel(name)
                _ticks(axis, at, side_by_side)
        _head(figure, title, handles if list(colours) != measures else {}, axes[0].get_position().y1)
        return content(figure, kind)


def _head(figure: Any, title: str, handles: Mapping[str, Any], up: float) -> None:
    """The title and the legend, above the panels."""
    longest = max(map(len, handles), default=0)
    lines = [textwrap.fill(line, CHARACTERS) for line in title.split("\n")]
    figure.legend(
        [*handles.values()], [*handles], title="\n".join(lines),
        ncols=max(1, CHARACTERS // (longest + 6)), loc="lower center", bbox_to_anchor=(0.5, up),
        frameon=False,
    )  # fmt: skip


def _panel(
    axis: Any, points: Sequence[Point], at: Mapping[Place, float], colours: Mapping[str, int], bars: bool
) -> Dict[str, Any]:
    """Draw the lines or bars of one measure; return system -> what the legend shows for it."""
    systems = [name for name in colours if any(point.system == name for point in points)]
    handles = {}
    largest = max((abs(point.value) for point in points), default=0) or 1
    digits = max(1, 2 - floor(log10(largest)))  # so that bars of other heights have other values above
    for number, name in enumerate(systems):
        line = sorted((point for point in points if point.system == name), key=lambda point: at[point.place])
        where = [at[point.place] for point in line]
        if bars:
            width = 0.85 / len(systems)
            middle = (number - (len(systems) - 1) / 2) * width
            narrow = width * WIDTH / len(at) < 0.4  # inches, about the width of a number
            middles = [place + middle for place in where]
            handles[name] = _bars(axis, middles, line, width, colours[name], narrow, digits)
        else:
            handles[name] = _line(axis, where, line, colours[name])
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)
    if bars:
        axis.set_xlim(-0.6, len(at) - 0.4)
    return handles


def _line(axis: Any, where: Sequence[float], line: Sequence[Point], colour: int) -> Any:
    """Draw a line, and its band if it has one."""
    (drawn,) = axis.plot(
        where, [point.value for point in line], color=f"C{colour % 10}",
        linestyle=("-", "--", ":", "-.")[colour // 10 % 4], marker="o", markersize=4 if len(line) < 40 else 0,
    )  # fmt: skip
    if any(point.low is not None for point in line):
        low, high = zip(*(point.band for point in line), strict=True)
        edge = 0 if len(line) > 1 else 6  # there is nothing to fill beside a single point
        axis.fill_between(where, low, high, color=drawn.get_color(), alpha=0.15, linewidth=edge)
    return drawn


def _bars(
    axis: Any,
    where: Sequence[float],
    line: Sequence[Point],
    width: float,
    colour: int,
    narrow: bool,
    digits: int,
) -> Any:
    """Draw a system's bars, each with its band and its value above, with ``digits`` after the point."""
    errors = np.abs([[bound - point.value for bound in point.band] for point in line]).T
    drawn = axis.bar(
        where, [point.value for point in line], width, yerr=errors.tolist() if errors.any() else None,
        capsize=2, error_kw={"linewidth": 0.8}, color=f"C{colour % 10}",
        hatch=("", "//", "..", "xx")[colour // 10 % 4],
    )  # fmt: skip
    size, turned = (6, 90) if narrow else (7, 0)
    axis.bar_label(drawn, fmt=f"%.{digits}f", fontsize=size, padding=2, rotation=turned)
    axis.margins(y=0.2 if narrow else 0.1)
    return drawn


def _ticks(axis: Any, at: Mapping[Place, float], side_by_side: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    labels, places = list(map(place_name, at)), [*at.values()]
    longest = max(len(part) for label in labels for part in label.split("\n"))
    nearest = min(np.diff(places), default=inf)
    if side_by_side:
        axis.set_xticks(places, labels, rotation=90 if longest * len(labels) > CHARACTERS else 0)
    elif len(at) <= 12 and nearest * CHARACTERS > longest * (places[-1] - places[0]):
        axis.set_xticks(places, labels)
    else:
        whole = all(place.is_integer() for place in at.values())
        axis.xaxis.set_major_locator(MaxNLocator(integer=whole, min_n_ticks=1))
