"""Renders the page: one HTML file that loads nothing and runs nothing.

What comes from files is text, which the template escapes, or a picture that was checked. The page tells the
browser (Content-Security-Policy) to load nothing, run no script and use no style but the page's own.
"""

import base64
import hashlib
from pathlib import Path
from typing import Sequence

from ctxmt_fairseq.analysis.page.blocks import Section

HERE = Path(__file__).parent


def render(title: str, sections: Sequence[Section]) -> str:
    """The page's HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    style = (HERE / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("page.html").render(
        title=title,
        sections=sections,
        style=Markup(style),  # the file beside this module, no input
        style_hash=f"sha256-{digest}",
    )
