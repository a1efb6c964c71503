"""Maps of the same points side by side; colours and markers show their attributes, and names stand beside
points so that they hide neither each other nor a point."""

import itertools
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.plots.drawing import content, drawing, short

SIDE = 5.0  # inches of a map
MARKERS = "oxs^Dv*P"
MOST_NAMES = 30  # of points; more would hide each other
MOST_COLOURS = 20
LONGEST_ENTRY = 48  # characters in a legend
REST = "(others)"
FONT = 6.5  # of names, in points
LETTER, LINE = 0.055, 0.12  # inches that a name takes in this font
POINT = 0.14  # inches that a point is across
# Possible distances of a name from its point in inches, and directions; it takes the nearest free place.
REACHES = (0.09, 0.2, 0.35, 0.5, 0.7, 0.95, 1.25)
DIRECTIONS = np.arange(16) * np.pi / 8
Attribute = Tuple[str, np.ndarray]  # name, and a string or float64 for each point


class Groups(NamedTuple):
    """The groups, each of its own colour or marker, into which an attribute divides the points: their names
    in the order of the points, ``REST`` last, and the number of each point's."""

    names: List[str]
    members: np.ndarray


def groups(values: np.ndarray, most: int) -> Groups:
    """At most ``most`` groups: if there are more values, the rarest share the last group."""
    names, first, counts = np.unique(values, return_index=True, return_counts=True)
    order = np.argsort(first)
    if len(names) > most:
        kept = np.argsort(-counts, kind="stable")[: most - 1]
        order = order[np.isin(order, kept)]
    places = {str(names[at]): place for place, at in enumerate(order)}
    members = np.array([places.get(str(value), len(places)) for value in values])
    return Groups([*places, REST][: members.max() + 1], members)


def draw_scatter(
    title: str,
    panels: Sequence[Tuple[str, np.ndarray]],
    attributes: Sequence[Attribute] = (),
    point_names: Sequence[str] = (),
) -> bytes:
    """Maps of the same n points as the content of a PNG file.

    Args:
        panels: the title and the points (n, 2) of each map.
        attributes: colours show the first (for numbers with a colour bar), markers the second. If there are
            more than 20 strings for colours, or 8 values for markers, the rarest share one.
        point_names: names to write beside the points, if there are at most 30.
    """
    colour, marker = (*attributes, None, None)[:2]
    numbers = colour[1] if colour is not None and colour[1].dtype.kind == "f" else None
    coloured = groups(colour[1], MOST_COLOURS) if colour is not None and numbers is None else None
    marked = groups(marker[1], len(MARKERS)) if marker is not None else None
    shown = [short(name) for name in point_names] if len(point_names) <= MOST_NAMES else []
    known = [name for found in (coloured, marked) if found for name in found.names]
    names = [name for name, _ in (*panels, *attributes)]
    with drawing([title, *names, *known, *shown]):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(SIDE * len(panels), SIDE))
        inside = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0.04}
        row = figure.subplots(1, len(panels), squeeze=False, gridspec_kw=inside)[0]
        for axes, (name, points) in zip(row, panels, strict=True):
            scale = _map(axes, points, numbers, coloured, marked)
            axes.set_title(name, fontsize=9)
            axes.set(xticks=[], yticks=[])  # neither their unit nor their origin means anything
            _draw_names(axes, points, shown, SIDE)
        figure.suptitle(title, fontsize=10, y=1.04 + 0.03 * len(panels[0][0].splitlines()))
        if colour is not None and numbers is not None:
            bar = figure.add_axes((1.01, 0.3, 0.02 / len(panels), 0.7))
            figure.colorbar(scale, cax=bar, label=short(colour[0], LONGEST_ENTRY))
        if colour is not None and coloured is not None:
            symbols = [("o", colour) for colour in _colours(coloured)]
            _legend(figure, colour[0], coloured.names, symbols, "upper left", 1)
        if marker is not None and marked is not None:
            symbols = [(symbol, "black") for symbol in MARKERS[: len(marked.names)]]
            _legend(figure, marker[0], marked.names, symbols, "lower left", 0)
        return content(figure)


def _map(
    axes: Any,
    points: np.ndarray,
    numbers: Optional[np.ndarray],
    coloured: Optional[Groups],
    marked: Optional[Groups],
) -> Any:
    """Draw one map; return what a colour bar is made from."""
    one = Groups([""], np.zeros(len(points), int))
    colours = numbers
    style: Dict[str, Any] = {"s": float(np.clip(6000 / len(points), 8, 45)), "alpha": 0.85}
    if colours is None:
        colours = _colours(coloured or one)[(coloured or one).members]
    else:
        style.update(vmin=colours.min(), vmax=colours.max(), cmap="viridis")
    for group, symbol in enumerate(MARKERS[: len((marked or one).names)]):
        chosen = (marked or one).members == group
        thin = 0.9 if symbol == "x" else 0
        scale = axes.scatter(*points[chosen].T, c=colours[chosen], marker=symbol, linewidths=thin, **style)
    return scale


def _colours(found: Groups) -> np.ndarray:
    """(groups, 4) distinct colours."""
    from matplotlib import colormaps

    return colormaps["tab10" if len(found.names) <= 10 else "tab20"](np.arange(len(found.names)))


def _legend(
    figure: Any, title: str, names: Sequence[str], symbols: Sequence[Any], place: str, up: float
) -> None:
    """Explain the colours or the markers, beside the maps."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="", marker=marker, color=colour) for marker, colour in symbols]
    labels = [short(name, LONGEST_ENTRY) for name in names]
    title = short(title, LONGEST_ENTRY)
    figure.legend(handles, labels, title=title, loc=place, bbox_to_anchor=(1, up), fontsize=8)


def name_places(points: np.ndarray, names: Sequence[str], side: float) -> np.ndarray:
    """The centres of points' names, (n, 2) in inches from the lower left corner of a square map."""
    boxes = [np.concatenate([point - POINT / 2, point + POINT / 2]) for point in points]
    centres: List[np.ndarray] = []
    for point, name in zip(points, names, strict=True):
        size = np.array([LETTER * len(name), LINE])
        taken = np.array(boxes)
        best, least = point, np.inf
        for reach, angle in itertools.product(REACHES, DIRECTIONS):
            centre = point + np.array([np.cos(angle), np.sin(angle)]) * (reach + size / 2)
            low, high = centre - size / 2, centre + size / 2
            hidden = np.minimum(high, taken[:, 2:]) - np.maximum(low, taken[:, :2])
            outside = (np.maximum(-low, 0) + np.maximum(high - side, 0)).sum()
            cost = hidden.clip(min=0).prod(axis=1).sum() + outside
            if cost < least - 1e-9:
                best, least = centre, cost
        boxes.append(np.concatenate([best - size / 2, best + size / 2]))
        centres.append(best)
    return np.array(centres).reshape(-1, 2)


def _draw_names(axes: Any, points: np.ndarray, names: Sequence[str], side: float) -> None:
    """Write the names of points, (n, 2) in the units of a map of about this side, with a line to each."""
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    axes.set(xlim=limits[0], ylim=limits[1])  # so that lines do not change them
    low, extent = limits[:, 0], limits[:, 1] - limits[:, 0]
    centres = name_places((points - low) / extent * side, names, side) if len(names) else ()
    for point, centre, name in zip(points, centres, names, strict=False):
        axes.annotate(
            name, point, low + centre / side * extent, fontsize=FONT, ha="center", va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "gray", "shrinkB": 3},
        )  # fmt: skip
