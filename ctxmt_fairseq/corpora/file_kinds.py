"""Tells by a file's first bytes what kind of corpus it is, for messages about files of another kind."""

import re
from typing import Dict, Iterable, Tuple

from ctxmt_fairseq.base.paths import STANDARD
from ctxmt_fairseq.text.text_lines import open_text

Kind = Tuple[str, ...]  # what a file looks like, and the commands that read it
_OPUS = ("opensubtitles", "opus")
_TAGS: Dict[bytes, Kind] = {  # within a text that begins with <
    b"<tmx": ("TMX", "tmx"),
    b"<cesAlign": ("an alignment of OPUS", *_OPUS),
    **dict.fromkeys([b"<srcset", b"<refset", b"<dataset"], ("a test set", "wmt", "ted")),
    **dict.fromkeys([b"<url>", b"<doc docid"], ("talks of IWSLT", "ted")),
    b"<CHAPTER": ("Europarl with its tags", "europarl"),
    b"<s id=": ("a document of OPUS, whose alignment is read", *_OPUS),
}
_STARTS: Dict[bytes, Kind] = {
    rb"PK\x03\x04": ("a zip file: unpack it, unless it is of OPUS", *_OPUS),
    rb"PAR1": ("Parquet", "records"),
    rb"\{": ("JSON lines", "records", "scat"),
    rb"\[[\d, ]*\]:\[[\d, ]*\]": ("an alignment of vecalign", "aligned"),
}


def hint(head: bytes, command: str) -> str:
    """What a file looks like that begins so, and which command reads it; empty if it is this one."""
    head = head[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    kinds = [kind for tag, kind in _TAGS.items() if head.startswith(b"<") and tag in head]
    kinds += [kind for start, kind in _STARTS.items() if re.match(start, head)]
    if not kinds or command in kinds[0]:
        return ""
    return f"this looks like {kinds[0][0]}: use ctxmt corpus {' or '.join(kinds[0][1:])}"


def hint_of(paths: Iterable[str], command: str) -> str:
    """``hint`` for the first of the files that has one."""
    for path in (path for path in paths if path != STANDARD):
        try:
            with open_text(path) as stream:
                found = hint(stream.peek(1000), command)  # type: ignore[attr-defined]
        except Exception:  # why it cannot be read is what the command says
            continue
        if found:
            return f"; {path}: {found}"
    return ""
