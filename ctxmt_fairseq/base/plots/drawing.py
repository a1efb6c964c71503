"""What all pictures share: a font that has the characters of their text, and the content of their file."""

import contextlib
import io
import warnings
from typing import Any, Iterable, Iterator

from ctxmt_fairseq.base.extras import check_matplotlib

RESOLUTION = 150  # dots per inch
LONGEST_SIDE = 12_000  # dots; a larger picture gets a lower resolution


@contextlib.contextmanager
def drawing(text: Iterable[str]) -> Iterator[None]:
    """Draw in matplotlib's own font, with the installed font that has most of the characters that it lacks.

    A $ is a token and starts no formula. Without matplotlib, raises ``BadInput``.
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
    style |= {"svg.fonttype": "none", "svg.hashsalt": "ctxmt"}  # text stays text; ids do not change
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the files with the numbers have it
        yield


def content(figure: Any, kind: str = "png") -> bytes:
    """The content of a file that is as large as what is drawn; the same figure gives the same bytes."""
    stream = io.BytesIO()
    dots = min(RESOLUTION, LONGEST_SIDE / (max(figure.get_size_inches()) + 4))  # with its labels
    undated: Any = {"metadata": {"Date": None}} if kind == "svg" else {}
    figure.savefig(stream, format=kind, dpi=dots, bbox_inches="tight", **undated)
    return stream.getvalue()


def short(label: str, longest: int = 24) -> str:
    """A label cut to ``longest`` characters."""
    return label if len(label) <= longest else label[: longest - 1] + "…"
