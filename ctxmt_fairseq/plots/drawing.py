"""What all pictures share: the font that has their text, and the content of their file."""

import contextlib
import io
import warnings
from typing import Any, Iterable, Iterator

from ctxmt_fairseq.extras import check_matplotlib

RESOLUTION = 150  # dots per inch
LONGEST_SIDE = 12_000  # dots: beyond, the resolution is lowered


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
    style |= {"svg.fonttype": "none", "svg.hashsalt": "ctxmt"}  # text stays text, and names are not drawn
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # no font has it: the numbers' files do
        yield


def content(figure: Any, kind: str = "png") -> bytes:
    """The content of a file as large as what is drawn, the same for the same figure."""
    stream = io.BytesIO()
    dots = min(RESOLUTION, LONGEST_SIDE / (max(figure.get_size_inches()) + 4))  # with its labels
    undated: Any = {"metadata": {"Date": None}} if kind == "svg" else {}
    figure.savefig(stream, format=kind, dpi=dots, bbox_inches="tight", **undated)
    return stream.getvalue()


def short(label: str, longest: int = 24) -> str:
    """At most so many characters."""
    return label if len(label) <= longest else label[: longest - 1] + "…"
