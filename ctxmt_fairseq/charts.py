"""Line and bar charts as PNG or SVG, with matplotlib (the extra ``plots``), and their numbers as CSV."""

import csv
import io
import statistics
import textwrap
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

Place = Union[int, float, str]  # where a value stands across; its own name
WIDTH, HEIGHT = 6.6, 2.7  # inches: of the picture, of a panel
LEGEND_ROW = 0.2
NAME = 34  # characters of a line of an axis' name
CHARACTERS = 88  # of a line of the title
UPRIGHT = 0.075  # inches of a character of a name that stands upright
RESOLUTION = 150  # dots per inch


@dataclass(frozen=True)
class Point:
    """A value with its band: the lowest and highest of several runs, or an interval.

    Attributes:
        low, high: None without a band.
    """

    value: float
    low: Optional[float] = None
    high: Optional[float] = None

    @classmethod
    def of_runs(cls, values: Sequence[float]) -> "Point":
        """Their mean; of several runs with the lowest and the highest."""
        band = (min(values), max(values)) if len(values) > 1 else (None, None)
        return cls(statistics.fmean(values), *band)


@dataclass(frozen=True)
class Panel:
    """One coordinate system.

    Attributes:
        name: of what is drawn upwards, with its unit.
        series: system -> place (see ``Place``) -> point.
        base: where a horizontal line is drawn.
    """

    name: str
    series: Mapping[str, Mapping[Any, Point]]
    base: Optional[float] = None

    @property
    def is_empty(self) -> bool:
        return not any(self.series.values())


def places_of(panels: Sequence[Panel]) -> List[Place]:
    """All places: numbers in ascending order, else in the order in which they appear."""
    found: Dict[Place, None] = {}
    for panel in panels:
        for line in panel.series.values():
            found.update(dict.fromkeys(line))
    if any(isinstance(place, str) for place in found):
        return list(found)
    return sorted(found, key=float)


def chart(
    panels: Sequence[Panel],
    across: str,
    title: str = "",
    bars: bool = False,
    evenly: bool = False,
    kind: str = "png",
) -> bytes:
    """Panels above each other over one axis, as the content of a file. A system has one colour in all.

    Without a legend where every panel has one series of its own name.

    Args:
        across: name of the axis that they share, with its unit.
        bars: a bar for each system at every place, from 0, its value above it; else lines with markers.
        evenly: places stand one beside the other, whatever they are as numbers; bars and names always do.
        kind: of file, png or svg: the same bytes for the same panels.
    """
    import matplotlib
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    places = places_of(panels)
    evenly = evenly or bars or any(isinstance(place, str) for place in places)
    at = {place: number if evenly else float(place) for number, place in enumerate(places)}
    columns = max(1, min(len(names), CHARACTERS // (max(map(len, names), default=0) + 6)))
    titles = [part for line in title.splitlines() for part in textwrap.wrap(line, CHARACTERS)]
    height = HEIGHT * len(panels) + LEGEND_ROW * (-(-len(names) // columns) + len(titles)) + 0.3
    upright = evenly and _longest(_labels(places)) * len(places) > CHARACTERS * 0.8
    if upright:
        height += UPRIGHT * _longest(_labels(places))
    # Text stays text, and names within the file are not drawn at random.
    with matplotlib.rc_context({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "ctxmt"}):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        if titles:
            figure.suptitle("\n".join(titles), fontsize=10, parse_math=False)
        axes: Any = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        drawn: Dict[str, Any] = {}
        for axis, panel in zip(axes, panels, strict=True):
            for number, (name, line) in enumerate(panel.series.items()):
                colour = names.index(name)
                if bars:
                    handle = _bars(axis, line, at, colour, number, len(panel.series))
                else:
                    handle = _line(axis, line, at, colour)
                drawn.setdefault(name, handle)
            axis.set_ylabel("\n".join(textwrap.wrap(panel.name, NAME)), parse_math=False)
            axis.grid(axis="y", alpha=0.3)
            axis.set_axisbelow(True)
            if panel.base is not None:
                axis.axhline(panel.base, color="black", linewidth=0.8)
        axes[-1].set_xlabel(across, parse_math=False)
        if bars:
            axes[-1].set_xlim(-0.6, len(places) - 0.4)
        _ticks(axes[-1], places, at, evenly, upright)
        if names != [panel.name for panel in panels]:
            legend = figure.legend(
                list(drawn.values()), list(drawn), loc="outside lower center", ncols=columns, frameon=False
            )
            for text in legend.get_texts():
                text.set_parse_math(False)
        content = io.BytesIO()
        undated: Any = {"metadata": {"Date": None}} if kind == "svg" else {}
        figure.savefig(content, format=kind, dpi=RESOLUTION, **undated)
    return content.getvalue()


def _line(axis: Any, line: Mapping[Place, Point], at: Mapping[Place, float], colour: int) -> Any:
    """A line, and its band where it has one."""
    shown = sorted(line, key=lambda place: at[place])
    where = [at[place] for place in shown]
    (drawn,) = axis.plot(
        where, [line[place].value for place in shown], marker="o", markersize=4, color=f"C{colour % 10}",
        linestyle=("-", "--", ":", "-.")[colour // 10 % 4],
    )  # fmt: skip
    low, high = zip(*(_band(line[place]) for place in shown), strict=True) if shown else ((), ())
    if low != high:
        axis.fill_between(where, low, high, color=drawn.get_color(), alpha=0.15, linewidth=0)
    return drawn


def _bars(
    axis: Any, line: Mapping[Place, Point], at: Mapping[Place, float], colour: int, number: int, count: int
) -> Any:
    """A system's bars, each with its value above and its band; ``number`` of ``count`` side by side."""
    width = 0.85 / count
    where = [at[place] + (number - (count - 1) / 2) * width for place in line]
    values = [point.value for point in line.values()]
    bands = [_band(point) for point in line.values()]
    errors = [[value - low for value, (low, _) in zip(values, bands, strict=True)],
              [high - value for value, (_, high) in zip(values, bands, strict=True)]]  # fmt: skip
    shown = errors if any(map(any, errors)) else None
    drawn = axis.bar(
        where, values, width, yerr=shown, color=f"C{colour % 10}", capsize=2, error_kw={"linewidth": 0.8},
        hatch=("", "//", "..", "xx")[colour // 10 % 4],
    )  # fmt: skip
    narrow = count * len(at) > 12
    axis.bar_label(drawn, fmt="%.1f", fontsize=6 if narrow else 7, padding=2, rotation=90 if narrow else 0)
    axis.margins(y=0.2 if narrow else 0.1)
    return drawn


def _band(point: Point) -> Tuple[float, float]:
    if point.low is None or point.high is None:
        return point.value, point.value
    return point.low, point.high


def _labels(places: Sequence[Place]) -> List[str]:
    return [place if isinstance(place, str) else f"{place:g}" for place in places]


def _longest(labels: Sequence[str]) -> int:
    """Characters of the longest line."""
    return max((len(part) for label in labels for part in label.split("\n")), default=0)


def _ticks(
    axis: Any, places: Sequence[Place], at: Mapping[Place, float], evenly: bool, upright: bool
) -> None:
    from matplotlib.ticker import MaxNLocator

    if not evenly:
        whole = all(float(place).is_integer() for place in places)
        axis.xaxis.set_major_locator(MaxNLocator(integer=whole, min_n_ticks=1))
        return
    rotation = 90 if upright else 0
    axis.set_xticks([at[place] for place in places], _labels(places), rotation=rotation, parse_math=False)


def chart_csv(panels: Sequence[Panel], across: str, each: str = "system") -> str:
    """The points as CSV; low and high are empty without a band. ``each`` says what a line or bar is of."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["measure", each, across, "value", "low", "high"])
    for panel in panels:
        for name, line in panel.series.items():
            for place, point in line.items():
                writer.writerow([panel.name, name, place, point.value, point.low, point.high])
    return text.getvalue()


def chart_records(panels: Sequence[Panel], across: str, each: str = "system") -> List[Dict[str, Any]]:
    """The points for JSON, as ``chart_csv``."""
    return [
        {"measure": panel.name, each: name, across: place, **vars(point)}
        for panel in panels
        for name, line in panel.series.items()
        for place, point in line.items()
    ]
