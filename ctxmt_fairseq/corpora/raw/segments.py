"""Test sets in documents and segments: SGM and XML of WMT and IWSLT, which are not always well-formed."""

import html
import re
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Union

from ctxmt_fairseq.corpora.raw.archives import read_document
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
# An unescaped & or < in the text must not matter, so no XML parser: these tags and what stands between them.
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>srcset|refset|tstset|doc|src|ref|hyp|seg|collection)\b(?P<attributes>[^<>]*)>",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'/>]+)")


class Segments(NamedTuple):
    """One side of a document.

    Attributes:
        collection: the id of the set that it belongs to (``setid``), "" if there is none.
        document: its id.
        kind: ``src``, ``ref`` or ``hyp``.
        by: who translated it (``translator``, ``system``, ``sysid``), or None.
        attributes: of the document (genre, origlang, domain, testsuite, ..).
        texts: id of each segment -> its text, in their order.
    """

    collection: str
    document: str
    kind: str
    by: Optional[str]
    attributes: Dict[str, str]
    texts: Dict[str, str]


def read_segments(path: PathLike) -> List[Segments]:
    """Read an SGM file (``<srcset>``, ``<refset>``), or XML as of 2021 (``<doc>`` with ``<src>``, ``<ref>``).

    Raises:
        BadInput: the file cannot be read, is no UTF-8, has no segments, or ids that stand there twice.
    """
    try:
        text = read_document(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"expected UTF-8, found byte 0x{error.object[error.start]:02x}", path) from None
    found = [segments for segments in _Scanner(path, text).sides() if segments.texts]
    if not found:
        raise BadInput("expected documents with segments (<doc>, <seg>), found none", path)
    return found


class _Scanner:
    """Walks through the tags; ``where`` names the place for an error."""

    def __init__(self, path: PathLike, text: str):
        self.path, self.text = path, text

    def _error(self, message: str, place: int) -> BadInput:
        return BadInput(message, self.path, self.text.count("\n", 0, place) + 1)

    def sides(self) -> Iterator[Segments]:
        around: Dict[str, str] = {}  # of the set: its kind, setid and sysid
        document: Dict[str, str] = {}
        side: Optional[Segments] = None
        opened = None  # where a <seg> began, and its id
        for tag in _TAG.finditer(self.text):
            name, ends = tag["name"].lower(), bool(tag["end"])
            attributes = {key.lower(): html.unescape(value.strip("\"'")) for key, value in
                          _ATTRIBUTE.findall(tag["attributes"])}  # fmt: skip
            if name == "seg":
                if ends == (opened is None):
                    raise self._error("expected <seg> and </seg> in turn", tag.start())
                if not ends:
                    opened = (tag.end(), attributes.get("id", ""))
                    continue
                if side is None:
                    raise self._error("expected segments inside a document", tag.start())
                start, number = opened  # type: ignore[misc]
                if number in side.texts:
                    raise self._error(f"the segment {number!r} stands twice in {side.document}", start)
                side.texts[number] = html.unescape(" ".join(self.text[start : tag.start()].split()))
                opened = None
            elif opened is not None:
                raise self._error("expected </seg>", tag.start())
            elif name in ("srcset", "refset", "tstset"):
                kind = {"srcset": "src", "refset": "ref", "tstset": "hyp"}[name]
                around = {} if ends else {**attributes, "kind": kind}
            elif name == "doc":
                if side is not None:
                    yield side
                document, side = ({} if ends else attributes), None
                if not ends and around:
                    side = self._side(around["kind"], {**around, **attributes}, attributes, tag.start())
            elif name in ("src", "ref", "hyp"):
                if side is not None:
                    yield side
                side = None if ends else self._side(name, attributes, document, tag.start())
        if opened is not None or side is not None:
            raise self._error("the file ends within a document", len(self.text))

    def _side(self, kind: str, who: Dict[str, str], document: Dict[str, str], place: int) -> Segments:
        name = document.get("docid") or document.get("id")
        if not name:
            raise self._error("expected a document with an id (docid=, id=)", place)
        by = who.get("translator") or who.get("system") or who.get("sysid")
        return Segments(who.get("setid", ""), name, kind, by, document, {})
