"""Maps of texts side by side as PNG, with matplotlib: colours and markers show what the texts are."""

import io
import warnings
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.labelled_texts import Attribute
from ctxmt_fairseq.analysis.picture import CHARACTER, RESOLUTION, fonts_for, short_label
from ctxmt_fairseq.analysis.point_names import draw_names
from ctxmt_fairseq.extras import check_matplotlib

PANEL = 5.0  # inches
MARKERS = "oxs^Dv*P"
MOST_NAMES = 30  # of points; beyond, they would hide each other
LONGEST_ENTRY = 48  # characters of a legend's entry
MOST_COLOURS = 20  # beyond 28 entries the legends would be higher than the picture
NUMBERS = "viridis"
REST = "(others)"


class Groups(NamedTuple):
    """The values of an attribute that get a colour or marker of their own, in the order of the texts.

    Attributes:
        names: of the groups; ``REST``, if there is one, is the last.
        members: (n,) the group of each text.
    """

    names: List[str]
    members: np.ndarray


def groups(values: np.ndarray, most: int) -> Groups:
    """At most so many groups: if there are more values, the rarest share the last."""
    names, first, counts = np.unique(values, return_index=True, return_counts=True)
    order = np.argsort(first)
    if len(names) > most:
        kept = np.argsort(-counts, kind="stable")[: most - 1]
        order = order[np.isin(order, kept)]
    places = {str(names[at]): place for place, at in enumerate(order)}
    members = np.array([places.get(str(value), len(places)) for value in values])
    return Groups([*places, REST][: members.max() + 1], members)


def scatter_picture(
    title: str,
    panels: Sequence[Tuple[str, np.ndarray]],
    attributes: Sequence[Attribute] = (),
    point_names: Sequence[str] = (),
) -> bytes:
    """Maps of the same n texts as the content of a PNG file.

    Args:
        panels: title and points (n, 2) of each map.
        attributes: the first is shown by colours (numbers with a colour bar), the second by markers. Of more
            than 20 strings for colours, or 8 values for markers, the rarest share one.
        point_names: of the texts, written beside their points if they are at most 30.

    Raises:
        BadInput: matplotlib is not installed.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    colour, marker = (*attributes, None, None)[:2]
    numbers = colour.values if colour is not None and colour.numeric else None
    coloured = groups(colour.values, MOST_COLOURS) if colour is not None and numbers is None else None
    marked = groups(marker.values, len(MARKERS)) if marker is not None else None
    legends = [(at, found) for at, found in zip(attributes, (coloured, marked), strict=False) if found]
    names = [short_label(name, LONGEST_ENTRY) for at, found in legends for name in (at.name, *found.names)]
    point_names = point_names if len(point_names) <= MOST_NAMES else ()
    width = PANEL * len(panels) + 0.3
    width += CHARACTER * max(map(len, names)) + 0.5 if names else 0
    width += 0.8 if numbers is not None else 0
    text = [title, *names, *point_names, *(name for name, _ in panels)]
    with matplotlib.rc_context({"font.family": fonts_for(text), "font.size": 9}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # no font has it: the table does
        figure = Figure(figsize=(width, PANEL + 0.7), dpi=RESOLUTION, layout="constrained")
        figure.suptitle(title, fontsize=10, parse_math=False)
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, points) in zip(row, panels, strict=True):
            shown = _draw(axes, points, numbers, coloured, marked)
            if point_names:
                draw_names(axes, points, point_names, PANEL)
            axes.set_title(name, fontsize=9, parse_math=False)
            axes.set(xticks=[], yticks=[])  # neither their unit nor their origin means anything
        if colour is not None and numbers is not None:
            figure.colorbar(shown, ax=row.tolist(), label=colour.name, fraction=0.03, pad=0.02)
        for at, found in legends:
            _legend(figure, at.name, found, found is coloured)
        content = io.BytesIO()
        figure.savefig(content, format="png")
    return content.getvalue()


def _draw(
    axes: Any,
    points: np.ndarray,
    numbers: Optional[np.ndarray],
    coloured: Optional[Groups],
    marked: Optional[Groups],
) -> Any:
    """One map; returns what its colour bar is made from."""
    size = float(np.clip(6000 / len(points), 8, 45))  # square points
    if coloured is not None:
        colours = _colours(len(coloured.names))[coloured.members]
    else:
        colours = np.tile(_colours(1), (len(points), 1))
    members = np.zeros(len(points), int) if marked is None else marked.members
    for group in range(members.max() + 1):
        chosen = members == group
        marker = MARKERS[group]
        style = {"marker": marker, "s": size, "alpha": 0.85, "linewidths": 0.9 if marker == "x" else 0}
        if numbers is None:
            shown = axes.scatter(*points[chosen].T, c=colours[chosen], **style)
        else:
            limits = {"vmin": numbers.min(), "vmax": numbers.max(), "cmap": NUMBERS}
            shown = axes.scatter(*points[chosen].T, c=numbers[chosen], **limits, **style)
    return shown


def _colours(count: int) -> np.ndarray:
    """(count, 4) colours that one can tell apart."""
    from matplotlib import colormaps

    return colormaps["tab10" if count <= 10 else "tab20"](np.arange(count))


def _legend(figure: Any, name: str, found: Groups, colours: bool) -> None:
    """What the colours or the markers mean, beside the maps."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=marker, color=colour, label="-")
        for marker, colour in (
            [("o", colour) for colour in _colours(len(found.names))]
            if colours
            else [(marker, "black") for marker in MARKERS[: len(found.names)]]
        )
    ]
    place = f"outside right {'upper' if colours else 'lower'}"
    legend = figure.legend(handles=handles, loc=place, fontsize=8, title=name, title_fontsize=8)
    # Afterwards, since a label that begins with _ would be left out, and $ is no formula here.
    for text, label in zip(legend.get_texts(), found.names, strict=True):
        text.set(text=short_label(label, LONGEST_ENTRY), parse_math=False)
