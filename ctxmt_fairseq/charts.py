"""Line and bar charts as PNG or SVG, with matplotlib (extra ``plots``); their numbers for CSV and JSON."""

import csv
import io
import statistics
import textwrap
from math import inf
from types import MappingProxyType
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

Place = Union[int, float, str]
WIDTH, HEIGHT = 6.6, 2.7  # inches of a panel
CHARACTERS = 88  # of a line of the title, and of the names below the axis
STYLE: Any = {"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "ctxmt", "text.parse_math": False}


class Point(NamedTuple):
    """A value with its band: the lowest and highest of several runs, or an interval.

    Attributes:
        measure: what is drawn upwards, with its unit; of each there is a panel.
        system: whose line or bar it is in.
        place: what is drawn across.
        low, high: None without a band.
    """

    measure: str
    system: str
    place: Place
    value: float
    low: Optional[float] = None
    high: Optional[float] = None


def points_of_runs(values: Iterable[Any]) -> List[Point]:
    """The mean of all that has one measure, system and place; of several with the lowest and the highest."""
    found: Dict[Any, List[float]] = {}
    for one in values:
        found.setdefault((one.measure, one.system, one.place), []).append(one.value)
    bands = {key: [min(runs), max(runs)] if len(runs) > 1 else [None, None] for key, runs in found.items()}
    return [Point._make([*key, statistics.fmean(runs), *bands[key]]) for key, runs in found.items()]


def in_order(places: Iterable[Place]) -> List[Place]:
    """Each place once: numbers ascending, then names in the order in which they come."""
    return sorted(dict.fromkeys(places), key=lambda place: inf if isinstance(place, str) else place)


def place_name(place: Place) -> str:
    """A place as tables and pictures have it."""
    return place if isinstance(place, str) else f"{place:g}"


def chart(
    points: Sequence[Point],
    across: str,
    title: str = "",
    bars: bool = False,
    evenly: bool = False,
    bases: Mapping[str, float] = MappingProxyType({}),
    kind: str = "png",
) -> bytes:
    """A panel for each measure, above each other over one axis, as the content of a file.

    A system has one colour in all panels; there is no legend where every measure has a line of its own name.

    Args:
        across: name of the axis that they share, with its unit.
        bars: a bar for each system at every place, from 0, its value above it; else lines with markers.
        evenly: places are side by side, whatever they are as numbers; bars and names always are.
        bases: measure -> where a horizontal line is drawn.
        kind: of file, png or svg: the same bytes for the same points.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    measures = list(dict.fromkeys(point.measure for point in points))
    systems = list(dict.fromkeys(point.system for point in points))
    places = in_order(point.place for point in points)
    evenly = evenly or bars or any(isinstance(place, str) for place in places)
    at = {place: number if evenly else float(place) for number, place in enumerate(places)}
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT * len(measures)))
        axes: Any = figure.subplots(len(measures), sharex=True, squeeze=False)[:, 0]
        drawn: Dict[str, Any] = {}
        for axis, measure in zip(axes, measures, strict=True):
            lines = {name: [one for one in points if one[:2] == (measure, name)] for name in systems}
            lines = {
                name: sorted(line, key=lambda one: at[one.place]) for name, line in lines.items() if line
            }
            for number, (name, line) in enumerate(lines.items()):
                where = [at[one.place] for one in line]
                colour = systems.index(name)
                handle = (
                    _bars(axis, where, line, colour, number, len(lines))
                    if bars
                    else _line(axis, where, line, colour)
                )
                drawn.setdefault(name, handle)
            axis.set_ylabel(textwrap.fill(measure, 34))
            axis.grid(axis="y", alpha=0.3)
            axis.set_axisbelow(True)
            if measure in bases:
                axis.axhline(bases[measure], color="black", linewidth=0.8)
        axis.set_xlabel(across)
        if evenly:
            labels = list(map(place_name, places))
            upright = sum(map(len, labels)) > CHARACTERS * 0.8
            axis.set_xticks(range(len(places)), labels, rotation=90 if upright else 0)
        else:
            whole = all(float(place).is_integer() for place in places)
            axis.xaxis.set_major_locator(MaxNLocator(integer=whole, min_n_ticks=1))
        shown = drawn if systems != measures else {}
        handles_and_labels: Any = [*shown.values()], [*shown]
        figure.legend(
            *handles_and_labels, title=textwrap.fill(title, CHARACTERS, replace_whitespace=False),
            ncols=max(1, CHARACTERS // (max(map(len, systems)) + 6)), loc="lower center",
            bbox_to_anchor=(0.5, axes[0].get_position().y1), frameon=False,
        )  # fmt: skip
        content = io.BytesIO()
        undated: Any = {"metadata": {"Date": None}} if kind == "svg" else {}
        figure.savefig(content, format=kind, dpi=150, bbox_inches="tight", **undated)
    return content.getvalue()


def _line(axis: Any, where: Sequence[float], line: Sequence[Point], colour: int) -> Any:
    """A line, and its band where it has one."""
    style = ("-", "--", ":", "-.")[colour // 10 % 4]
    values = [one.value for one in line]
    (drawn,) = axis.plot(where, values, marker="o", markersize=4, color=f"C{colour % 10}", linestyle=style)
    if any(one.low is not None for one in line):
        low, high = ([_known(one, side) for one in line] for side in ("low", "high"))
        axis.fill_between(where, low, high, color=drawn.get_color(), alpha=0.15, linewidth=0)
    return drawn


def _bars(
    axis: Any, where: Sequence[float], line: Sequence[Point], colour: int, number: int, count: int
) -> Any:
    """A system's bars, each with its value above and its band; ``number`` of ``count`` side by side."""
    width = 0.85 / count
    errors = [[abs(one.value - _known(one, side)) for one in line] for side in ("low", "high")]
    drawn = axis.bar(
        [place + (number - (count - 1) / 2) * width for place in where], [one.value for one in line], width,
        yerr=errors if any(map(any, errors)) else None, error_kw={"linewidth": 0.8}, capsize=2,
        color=f"C{colour % 10}", hatch=("", "//", "..", "xx")[colour // 10 % 4],
    )  # fmt: skip
    narrow = count * len(line) > 12
    axis.bar_label(drawn, fmt="%.1f", fontsize=6 if narrow else 7, padding=2, rotation=90 if narrow else 0)
    axis.margins(y=0.2 if narrow else 0.1)
    return drawn


def _known(point: Point, side: str) -> float:
    bound = getattr(point, side)
    return point.value if bound is None else bound


def chart_records(points: Sequence[Point], across: str, each: str = "system") -> List[Dict[str, Any]]:
    """The points for JSON; ``each`` says what a line or bar is of."""
    keys = ("measure", each, across, "value", "low", "high")
    return [dict(zip(keys, point, strict=True)) for point in points]


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Records of the same keys as CSV; None is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
