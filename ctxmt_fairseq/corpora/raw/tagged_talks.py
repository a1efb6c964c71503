"""IWSLT's ``train.tags.*``: talks with tags around them that are no XML, for there is no root element."""

import html
import re
from pathlib import Path
from typing import Dict, List, Union

from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.errors import BadInput

_DOCID = re.compile(
    r"<doc\b[^>]*\bdocid\s*=\s*[\"']?([^\"'\s>]+)|<talkid>\s*(\S+?)\s*</talkid>", re.IGNORECASE
)


def read_tagged_talks(path: Union[str, Path]) -> Dict[str, List[str]]:
    """The lines of each talk by its id, in order; lines of metadata, which begin with a tag, are dropped.

    A talk begins with ``<doc docid="...">``, in older files with ``<url>``, and has its id there or in
    ``<talkid>``.

    Raises:
        BadInput: as ``iterate_lines``; no talks, text outside a talk, a talk without id, or two of one id.
    """
    talks: Dict[str, List[str]] = {}
    name, lines = "", []
    head = False  # whether only metadata was seen since the talk began
    for number, line in enumerate(iterate_lines(path), 1):
        text = line.strip()
        tag = text.lower()
        if not tag.startswith("<"):
            if not name:
                raise BadInput(
                    "expected a talk with an id (<doc docid=...>, <talkid>) before text", path, number
                )
            lines.append(html.unescape(" ".join(text.split())))
            head = False
            continue
        if tag.startswith("<doc ") or (tag.startswith("<url>") and not head):
            name, lines, head = "", [], True
        elif tag.startswith("</doc>"):
            name, head = "", False
        found = _DOCID.search(text)
        if found and head and not name:
            name = found[1] or found[2]
            if name in talks:
                raise BadInput(f"the talk {name} stands there twice", path, number)
            talks[name] = lines
    if not talks:
        raise BadInput("expected talks (<doc docid=...>, <talkid>), found none", path)
    return talks
