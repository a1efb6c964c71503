"""For mkdocs: links from a page of docs/ to files outside of it lead into the repository."""

import re
from posixpath import dirname, join, normpath
from typing import Any


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """The page's text, in which ``[text](../examples/README.md)`` is an address of the repository."""
    folder = join("docs", dirname(page.file.src_uri))

    def resolved(link: re.Match[str]) -> str:
        place = normpath(join(folder, link[1]))
        inside = place.startswith("docs/") and files.get_file_from_path(place[len("docs/") :])
        return link[0] if inside else f"]({config['repo_url']}/blob/main/{place}{link[2] or ''})"

    return re.sub(r"\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)", resolved, markdown)
