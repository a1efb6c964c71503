"""Heat maps."""

import itertools
from typing import Any, Optional

import numpy as np

from ctxmt_fairseq.base.plots.drawing import content, drawing, short

CELL = 0.36  # inches


def draw_heat_map(shown: Any, annotate: bool = False, highest: Optional[float] = None) -> bytes:
    """A heat map of a ``LabelledMap`` as the content of a PNG file; ``annotate`` writes values into the
    cells, except those near zero; ``highest`` is the value of the darkest colour (default: the map's
    highest)."""
    rows, columns = (list(map(short, names)) for names in (shown.rows, shown.columns))
    names, values = [name for name, _ in shown.sections], shown.values
    with drawing([shown.title, *rows, *columns, *names]):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(CELL * len(columns), CELL * len(rows)))
        axis = figure.add_axes((0, 0, 1, 1))
        image = axis.imshow(values, cmap="Blues", vmin=0, vmax=highest, aspect="auto")
        axis.set_yticks(range(len(rows)), rows)
        axis.set_xticks(range(len(columns)), columns, rotation=90 if max(map(len, columns)) > 3 else 0)
        axis.set(ylabel=shown.row_name, xlabel=shown.column_name)
        axis.tick_params(length=2)
        bar = figure.add_axes((1 + 0.2 / CELL / len(columns), 0, 0.2 / CELL / len(columns), 1))
        figure.colorbar(image, cax=bar, label=shown.value_name)
        ends = list(itertools.accumulate(width for _, width in shown.sections))
        for end in ends[:-1]:
            axis.axvline(end - 0.5, color="black", linewidth=1)
        if shown.sections:
            middles = [end - (width + 1) / 2 for end, (_, width) in zip(ends, shown.sections, strict=True)]
            narrow = any(len(name) * 0.085 > CELL * width for name, width in shown.sections)
            above = axis.secondary_xaxis("top")
            above.set_xticks(middles, names, rotation=90 if narrow else 0)
            above.tick_params(length=0)
        axis.set_title(shown.title, fontsize=10)
        for (row, column), value in np.ndenumerate(values) if annotate else ():
            if value >= 0.005:
                colour = "white" if image.norm(value) > 0.6 else "black"
                text = f"{value:.2f}".removeprefix("0")
                axis.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
        return content(figure)
