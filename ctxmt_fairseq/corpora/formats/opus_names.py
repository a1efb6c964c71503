"""Reads the names of OPUS' documents."""

import re
from typing import Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike

_NAME = re.compile(r"(?P<language>[^/]+)/(?P<id>(?:[^/]+/)*[^/]+?)(?:\.xml)?(?:\.gz)?")


def document_id(name: str) -> str:
    """``en/2009/1218838/4681542.xml.gz`` -> ``2009/1218838/4681542``."""
    found = _NAME.fullmatch(name)
    return found["id"] if found else name


def order_of(names: Sequence[str], languages: Sequence[str], path: PathLike, line: int) -> int:
    """1 if documents (``en/1.xml``) come in the order of the languages, -1 in the other one.

    OPUS orders the languages by alphabet. Documents of other languages are refused.
    """
    found = [name.split("/")[0] for name in names]
    if set(found) != set(languages):
        message = f"expected documents of {' and '.join(languages)}, found {' and '.join(names)}"
        raise BadInput(message, path, line)
    return 1 if found == list(languages) else -1
