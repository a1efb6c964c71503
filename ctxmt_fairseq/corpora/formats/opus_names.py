"""Reads the names of OPUS' documents."""

import re
from typing import Optional, Sequence

_NAME = re.compile(r"(?P<language>[^/]+)/(?P<id>(?:[^/]+/)*[^/]+?)(?:\.xml)?(?:\.gz)?")


def document_id(name: str) -> str:
    """``en/2009/1218838/4681542.xml.gz`` -> ``2009/1218838/4681542``."""
    found = _NAME.fullmatch(name)
    return found["id"] if found else name


def exchanged(names: Sequence[str], languages: Sequence[str]) -> Optional[bool]:
    """Whether documents (``en/1.xml``) come in the other order than the languages; None: they are others."""
    found = [name.split("/")[0] for name in names]
    if set(found) != set(languages) or not all(names):
        return None
    return found != list(languages)
