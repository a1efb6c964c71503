"""Heat maps and maps of texts as PNG, with matplotlib (the extra ``plots``)."""

import contextlib
import io
import itertools
import warnings
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.labelled_texts import Attribute
from ctxmt_fairseq.extras import check_matplotlib

CELL = 0.36  # inches of a heat map's cell
PANEL = 5.0  # inches of a map of texts
RESOLUTION = 150  # dots per inch
LONGEST_SIDE = 12_000  # dots: beyond, the resolution is lowered
MARKERS = "oxs^Dv*P"
MOST_NAMES = 30  # of points; beyond, they would hide each other
MOST_COLOURS = 20
REST = "(others)"


@contextlib.contextmanager
def drawing(text: Iterable[str]) -> Iterator[None]:
    """In matplotlib's own font, and for characters that it lacks the installed font that has most of them.

    A $ is a token, no formula. Raises BadInput: matplotlib is not installed.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    fonts = ["DejaVu Sans"]
    missing = set(map(ord, "".join(text))) - FT2Font(font_manager.findfont(fonts[0])).get_charmap().keys()
    installed = font_manager.fontManager.ttflist if missing else []
    covered = [(len(missing & FT2Font(font.fname).get_charmap().keys()), font.name) for font in installed]
    if covered and max(covered)[0]:
        fonts.append(max(covered)[1])
    style: Any = {"font.family": fonts, "font.size": 9, "text.parse_math": False}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # no font has it: the numbers' files do
        yield


def png(figure: Any) -> bytes:
    """The content of a file as large as what is drawn."""
    content = io.BytesIO()
    dots = min(RESOLUTION, LONGEST_SIDE / (max(figure.get_size_inches()) + 4))  # with its labels
    figure.savefig(content, format="png", dpi=dots, bbox_inches="tight")
    return content.getvalue()


def short(label: str, longest: int = 24) -> str:
    """At most so many characters."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def heat_map(labelled: LabelledMap, annotate: bool = False, highest: Optional[float] = None) -> bytes:
    """A heat map as the content of a PNG file.

    Args:
        annotate: write the values into the cells, too; zero stays blank.
        highest: value of the darkest colour; default: the map's greatest.
    """
    rows, columns = (list(map(short, names)) for names in (labelled.rows, labelled.columns))
    sections = [name for name, _ in labelled.sections]
    with drawing([labelled.title, *rows, *columns, *sections]):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(CELL * len(columns), CELL * len(rows)))
        axis = figure.add_axes((0, 0, 1, 1))
        image = axis.imshow(labelled.values, cmap="Blues", vmin=0, vmax=highest, aspect="auto")
        axis.set_yticks(range(len(rows)), rows)
        axis.set_xticks(range(len(columns)), columns, rotation=90 if max(map(len, columns)) > 3 else 0)
        axis.set(ylabel=labelled.row_name, xlabel=labelled.column_name)
        axis.tick_params(length=2)
        bar = figure.add_axes((1 + 0.2 / CELL / len(columns), 0, 0.2 / CELL / len(columns), 1))
        figure.colorbar(image, cax=bar, label=labelled.value_name)
        ends = list(itertools.accumulate(width for _, width in labelled.sections))
        for end in ends[:-1]:
            axis.axvline(end - 0.5, color="black", linewidth=1)
        if sections:
            middles = [end - (width + 1) / 2 for end, (_, width) in zip(ends, labelled.sections, strict=True)]
            narrow = any(len(name) * 0.085 > CELL * width for name, width in labelled.sections)
            above = axis.secondary_xaxis("top")
            above.set_xticks(middles, sections, rotation=90 if narrow else 0)
            above.tick_params(length=0)
        axis.set_title(labelled.title, fontsize=10)
        for (row, column), value in np.ndenumerate(labelled.values) if annotate else ():
            if value >= 0.005:
                colour = "white" if image.norm(value) > 0.6 else "black"
                text = f"{value:.2f}".removeprefix("0")
                axis.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
        return png(figure)


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
    """
    count = len(panels[0][1])
    colour, marker = (*attributes, None, None)[:2]
    numbers = colour.values if colour is not None and colour.numeric else np.zeros(count)
    coloured = groups(colour.values, MOST_COLOURS) if colour is not None and not colour.numeric else None
    marked = groups(marker.values if marker is not None else np.zeros(count), len(MARKERS))
    point_names = [short(name) for name in point_names] if len(point_names) <= MOST_NAMES else []
    legends = [(colour, coloured), (marker, marked)]
    text = [one.name + "".join(found.names) for one, found in legends if one is not None and found]
    with drawing([title, *text, *point_names, *(name for name, _ in panels)]):
        from matplotlib import colormaps
        from matplotlib.figure import Figure

        palette = colormaps["tab10" if coloured is None or len(coloured.names) <= 10 else "tab20"]
        figure = Figure(figsize=(PANEL * len(panels), PANEL))
        figure.suptitle(title, fontsize=10, y=1 + 0.05 * panels[0][0].count("\n"))
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        style: Dict[str, Any] = {"s": float(np.clip(6000 / count, 8, 45)), "alpha": 0.85}
        if colour is not None and colour.numeric:
            style.update(vmin=numbers.min(), vmax=numbers.max(), cmap="viridis")
        for axes, (name, points) in zip(row, panels, strict=True):
            for group, symbol in enumerate(MARKERS[: len(marked.names)]):
                chosen = marked.members == group
                colours = palette(coloured.members if coloured else np.zeros(count, int))
                shades = numbers[chosen] if "cmap" in style else colours[chosen]
                shown = axes.scatter(*points[chosen].T, c=shades, marker=symbol,
                                     linewidths=0.9 if symbol == "x" else 0, **style)  # fmt: skip
            for at, label in zip(points, point_names, strict=False):
                axes.annotate(label, at, (3, 3), textcoords="offset points", fontsize=6.5)
            axes.set_title(name, fontsize=9)
            axes.set(xticks=[], yticks=[])  # neither their unit nor their origin means anything
        if "cmap" in style and colour is not None:
            figure.colorbar(shown, ax=row.tolist(), label=colour.name, fraction=0.03, pad=0.02)
        symbols: List[Any]
        if coloured is not None and colour is not None:
            symbols = [("o", palette(number)) for number in range(len(coloured.names))]
            _legend(figure, colour.name, coloured.names, symbols, "upper left", 0.9)
        if marker is not None:
            symbols = [(symbol, "black") for symbol in MARKERS[: len(marked.names)]]
            _legend(figure, marker.name, marked.names, symbols, "lower left", 0.1)
        return png(figure)


def _legend(
    figure: Any, title: str, names: Sequence[str], symbols: Sequence[Any], place: str, up: float
) -> None:
    """What the colours or the markers mean, beside the maps."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="", marker=marker, color=colour) for marker, colour in symbols]
    labels = [short(name, 48) for name in names]
    figure.legend(handles, labels, title=short(title, 48), loc=place, bbox_to_anchor=(0.91, up), fontsize=8)
