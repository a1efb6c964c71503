"""Heat maps as PNG, with matplotlib (the extra ``plots``)."""

import io
import itertools
import unicodedata
import warnings
from typing import Any, Iterable, List, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.extras import check_matplotlib

# Inches, but for the resolution.
CELL = 0.36
CHARACTER = 0.085  # of a label in 9 points
MARGIN = 0.7  # the name of an axis and its ticks
BAR = 0.9  # the colour bar with its numbers
RESOLUTION = 150  # dots per inch
LONGEST_SIDE = 12_000  # dots: beyond, the resolution is lowered
LONGEST_LABEL = 24  # characters


def picture(labelled: LabelledMap, annotate: bool = False, highest: Optional[float] = None) -> bytes:
    """A heat map as the content of a PNG file; its size follows from the map (``size``).

    Args:
        annotate: write the values into the cells, too; zero stays blank.
        highest: value of the darkest colour; default: the map's greatest.

    Raises:
        BadInput: matplotlib is not installed.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    inches, dots = size(labelled)
    rows, columns = (
        [short_label(name) for name in labelled.rows],
        [short_label(name) for name in labelled.columns],
    )
    text = itertools.chain([labelled.title], rows, columns)
    with matplotlib.rc_context({"font.family": fonts_for(text), "font.size": 9}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # no font has it: the numbers' files do
        figure = Figure(figsize=inches, dpi=dots, layout="constrained")
        figure.suptitle(labelled.title, fontsize=10, parse_math=False)
        axis = figure.add_subplot()
        image = axis.imshow(labelled.values, cmap="Blues", vmin=0, vmax=highest, aspect="auto")
        # A $ is a token here, no formula.
        axis.set_yticks(range(len(rows)), rows, parse_math=False)
        axis.set_xticks(range(len(columns)), columns, rotation=_rotation(columns), parse_math=False)
        axis.set_ylabel(labelled.row_name)
        axis.set_xlabel(labelled.column_name)
        axis.tick_params(length=2)
        figure.colorbar(image, ax=axis, label=labelled.value_name, fraction=0.05, pad=0.02)
        _mark_sections(axis, labelled.sections)
        if annotate:
            _annotate(axis, labelled.values, image)
        content = io.BytesIO()
        figure.savefig(content, format="png")
    return content.getvalue()


def size(labelled: LabelledMap) -> Tuple[Tuple[float, float], float]:
    """Width and height of a map's picture in inches, and its resolution in dots per inch."""
    width = CELL * len(labelled.columns) + CHARACTER * _longest(labelled.rows) + MARGIN + BAR
    height = CELL * len(labelled.rows) + MARGIN + 0.4  # the title
    height += CHARACTER * _longest(labelled.columns) if _rotation(labelled.columns) else 0.15
    if labelled.sections:
        names = [name for name, _ in labelled.sections]
        height += CHARACTER * _longest(names) if _narrow(labelled.sections) else 0.2
    width = max(width, 1.1 * CHARACTER * _width(labelled.title) + 0.3)
    return (width, height), min(RESOLUTION, LONGEST_SIDE / max(width, height))


def _mark_sections(axis: Any, sections: Sequence[Tuple[str, int]]) -> None:
    """Lines between runs of columns, and their names above."""
    if not sections:
        return
    ends = list(itertools.accumulate(width for _, width in sections))
    for end in ends[:-1]:
        axis.axvline(end - 0.5, color="black", linewidth=1)
    middles = [end - (width + 1) / 2 for end, (_, width) in zip(ends, sections, strict=True)]
    above = axis.secondary_xaxis("top")
    rotation = 90 if _narrow(sections) else 0
    above.set_xticks(middles, [name for name, _ in sections], rotation=rotation)
    above.tick_params(length=0)


def _annotate(axis: Any, values: Any, image: Any) -> None:
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if value >= 0.005:
                dark = image.norm(value) > 0.6
                axis.text(
                    column, row, f"{value:.2f}".removeprefix("0"), ha="center", va="center", fontsize=7,
                    color="white" if dark else "black",
                )  # fmt: skip


def _width(text: str) -> int:
    """Characters; Chinese and the like are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def short_label(label: str, longest: int = LONGEST_LABEL) -> str:
    """At most so many characters."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def _longest(labels: Iterable[str]) -> int:
    return max((_width(short_label(label)) for label in labels), default=0)


def _rotation(labels: Iterable[str]) -> int:
    """Degrees, so that neighbouring labels do not overlap."""
    return 90 if _longest(labels) > 3 else 0


def _narrow(sections: Iterable[Tuple[str, int]]) -> bool:
    """Whether a section is narrower than its name."""
    return any(CHARACTER * _width(name) > CELL * width for name, width in sections)


def fonts_for(text: Iterable[str]) -> List[str]:
    """matplotlib's own font, and for characters that it lacks the installed font that has most of them."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    own = "DejaVu Sans"
    fonts = [own]
    missing = {ord(character) for character in "".join(text)}
    missing -= FT2Font(font_manager.findfont(own)).get_charmap().keys()
    installed = font_manager.fontManager.ttflist if missing else []
    covered = [(len(missing & FT2Font(font.fname).get_charmap().keys()), font.name) for font in installed]
    if covered and max(covered)[0]:
        fonts.append(max(covered)[1])
    return fonts
