"""OPUS alignment files: which sentences of two documents are translations of each other."""

import re
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from ctxmt_fairseq.corpora.raw.xml import XmlStream, in_utf8
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
_GROUP, _GROUP_END = re.compile(rb"<linkGrp [^<>]*>"), b"</linkGrp>"
# What is between them, as OPUS' programs write it.
_VALUE = r"[ !#-%'-:=-~]*"  # ASCII, but no " & < ; in it
_LINK = re.compile(
    rf'<link (?:id="{_VALUE}" )?xtargets="({_VALUE});({_VALUE})"(?: overlap="([0-9]+(?:\.[0-9]+)?)")? ?/>'
)
_HELD_BACK = 1 << 24  # bytes of a group that has not ended yet; expat takes longer ones bit by bit


class Link(NamedTuple):
    """Sentences that translate each other; an unaligned sentence is a link to none.

    Attributes:
        source, target: ids of sentences.
        overlap: share of time that subtitles have in common; None where the file does not say.
    """

    source: Tuple[str, ...]
    target: Tuple[str, ...]
    overlap: Optional[float] = None


class LinkedDocuments(NamedTuple):
    """Two documents and all links between them, in the order of the file.

    Links are columns of text until they are asked for, by the process that reads the documents.

    Attributes:
        sources, targets: ids of the sentences of each link, blanks between them, a line per link.
        overlaps: as text, a line per link; empty where the file does not say.
        line: of the alignment file, from 1.
    """

    source: str
    target: str
    sources: str
    targets: str
    overlaps: str
    line: int

    def links(self) -> List[Link]:
        """The links, in order."""
        overlaps = [float(share) if share else None for share in self.overlaps.split("\n")[:-1]]
        return list(map(Link, _sides(self.sources), _sides(self.targets), overlaps))


def _sides(column: str) -> List[Tuple[str, ...]]:
    # Most sides are one sentence: no need to split them.
    return [(side,) if side.isalnum() else tuple(side.split()) for side in column.split("\n")[:-1]]


def read_links(path: PathLike, source_lang: str, target_lang: str) -> Iterator[LinkedDocuments]:
    """Read an alignment file, compressed or not, document by document.

    OPUS orders the languages by alphabet: where the file has the target language first, the sides are
    exchanged.

    Raises:
        BadInput: no such file, a damaged one, no alignment of OPUS, or one of other languages.
    """
    reader = _Reader(path, source_lang, target_lang)
    yield from reader.items()
    if not reader.groups:
        raise BadInput("expected an alignment of OPUS, found no <linkGrp>", path)


def exchanged(names: Tuple[str, str], languages: Tuple[str, str]) -> Optional[bool]:
    """Whether documents (``en/1.xml``) come in the other order than the languages; None: of others."""
    found = tuple(name.split("/")[0] for name in names)
    if set(found) != set(languages) or not all(names):
        return None
    return found != languages


class _Reader(XmlStream[LinkedDocuments]):
    """Collects documents as they end. Links as OPUS' programs write them never come to expat: it reads empty
    lines in their place."""

    def __init__(self, path: PathLike, source_lang: str, target_lang: str):
        super().__init__(path)
        self.languages, self.groups = (source_lang, target_lang), 0
        self._open: Optional[Tuple[str, str, int]] = None  # source, target, line
        self._columns: Tuple[List[str], List[str], List[str]] = ([], [], [])
        self._exchanged = False
        self._held = b""
        self._utf8: Optional[bool] = None

    def feed(self, chunk: bytes, last: bool = False) -> None:
        """Take in what comes next; a group that has not ended yet waits for its end."""
        if self._utf8 is None:
            self._utf8 = in_utf8(chunk)
        held = self._held + chunk
        fed = end = 0
        while self._utf8:
            group = _GROUP.search(held, end)
            end = held.find(_GROUP_END, group.end()) if group else -1
            if group is None or end < 0:
                break
            super().feed(held[fed : group.start()])
            before, fed = self.groups, group.end()
            super().feed(group[0])
            if self.groups > before and self._take(held[fed:end]):  # it did begin there, not in a comment
                super().feed(b"\n" * held.count(b"\n", fed, end))
                fed = end
        cut = held.find(b"<linkGrp ", fed)
        if last or not self._utf8 or cut < 0 or len(held) - cut > _HELD_BACK:
            cut = len(held)
        super().feed(held[fed:cut], last)
        self._held = held[cut:]

    def _take(self, body: bytes) -> bool:
        """Read the links of the open group, if they are all of the form that is expected."""
        if self._open is None or not body.isascii():
            return False
        pieces = _LINK.split(body.decode())
        if "".join(pieces[::4]).strip(" \n\t"):
            return False
        self._add(pieces[1::4], pieces[2::4], [overlap or "" for overlap in pieces[3::4]])
        return True

    def start(self, tag: str, attributes: Dict[str, str]) -> None:
        if tag == "link":
            self._link(attributes)
        elif tag == "linkGrp":
            self.groups += 1
            names = attributes.get("fromDoc", ""), attributes.get("toDoc", "")
            swap = exchanged(names, self.languages)
            if swap is None:
                raise self.error(f"expected documents of {' and '.join(self.languages)}, found {names}")
            self._exchanged = swap
            source, target = reversed(names) if self._exchanged else names
            self._open, self._columns = (source, target, self.line), ([], [], [])

    def _link(self, attributes: Dict[str, str]) -> None:
        sides = attributes.get("xtargets", "").split(";")
        if len(sides) != 2 or self._open is None:
            raise self.error("expected a link of two sides, as xtargets='1 2;3'")
        overlap = attributes.get("overlap")
        try:
            share = None if overlap is None else float(overlap)
        except ValueError:
            raise self.error(f"expected a number as overlap, found {overlap!r}") from None
        first, second = (" ".join(side.split()) for side in sides)
        self._add([first], [second], ["" if share is None else repr(share)])

    def _add(self, first: List[str], second: List[str], overlaps: List[str]) -> None:
        """Links of the open group."""
        sides = (second, first) if self._exchanged else (first, second)
        for column, texts in zip(self._columns, (*sides, overlaps), strict=True):
            column += texts

    def end(self, tag: str) -> None:
        if tag == "linkGrp" and self._open is not None:
            source, target, line = self._open
            sources, targets, overlaps = ("\n".join([*column, ""]) for column in self._columns)
            self.done.append(LinkedDocuments(source, target, sources, targets, overlaps, line))
            self._open = None
