"""OPUS alignment files: which sentences of two documents are translations of each other."""

import gzip
import zlib
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union
from xml.parsers import expat

from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
_CHUNK = 1 << 20


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

    Attributes:
        line: of the alignment file, from 1.
    """

    source: str
    target: str
    links: List[Link]
    line: int


def read_links(path: PathLike, source_lang: str, target_lang: str) -> Iterator[LinkedDocuments]:
    """Read an alignment file, compressed or not, document by document.

    OPUS orders the languages by alphabet: where the file has the target language first, the sides are
    exchanged.

    Raises:
        BadInput: no such file, a damaged one, no alignment of OPUS, or one of other languages.
    """
    reader = _Reader(path, source_lang, target_lang)
    try:
        with open(path, "rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if zipped else raw
            while chunk := stream.read(_CHUNK):
                reader.parser.Parse(chunk, False)
                yield from reader.taken()
        reader.parser.Parse(b"", True)
        yield from reader.taken()
    except FileNotFoundError:
        raise BadInput("no such file", path) from None
    except expat.ExpatError as error:
        raise BadInput(
            f"expected well-formed XML: {expat.ErrorString(error.code)}", path, error.lineno
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"damaged: {error or type(error).__name__}", path) from None
    if not reader.groups:
        raise BadInput("expected an alignment of OPUS, found no <linkGrp>", path)


def exchanged(names: Tuple[str, str], languages: Tuple[str, str]) -> Optional[bool]:
    """Whether documents (``en/1.xml``) come in the other order than the languages; None: of others."""
    found = tuple(name.split("/")[0] for name in names)
    if set(found) != set(languages) or not all(names):
        return None
    return found != languages


class _Reader:
    """Handlers of a streaming parser, which collect documents as they end."""

    def __init__(self, path: PathLike, source_lang: str, target_lang: str):
        self.path, self.languages, self.groups = path, (source_lang, target_lang), 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        self._open: Optional[LinkedDocuments] = None
        self._exchanged = False
        self._done: List[LinkedDocuments] = []

    def taken(self) -> List[LinkedDocuments]:
        done, self._done = self._done, []
        return done

    def _error(self, message: str) -> BadInput:
        return BadInput(message, self.path, self.parser.CurrentLineNumber)

    def _entity(self, *_: Any) -> None:
        raise self._error("expected XML without declarations of entities")

    def _start(self, tag: str, attributes: Dict[str, str]) -> None:
        if tag == "link":
            self._link(attributes)
        elif tag == "linkGrp":
            self.groups += 1
            names = attributes.get("fromDoc", ""), attributes.get("toDoc", "")
            swap = exchanged(names, self.languages)
            if swap is None:
                raise self._error(f"expected documents of {' and '.join(self.languages)}, found {names}")
            self._exchanged = swap
            source, target = reversed(names) if self._exchanged else names
            self._open = LinkedDocuments(source, target, [], self.parser.CurrentLineNumber)

    def _link(self, attributes: Dict[str, str]) -> None:
        sides = attributes.get("xtargets", "").split(";")
        if len(sides) != 2 or self._open is None:
            raise self._error("expected a link of two sides, as xtargets='1 2;3'")
        overlap = attributes.get("overlap")
        try:
            share = None if overlap is None else float(overlap)
        except ValueError:
            raise self._error(f"expected a number as overlap, found {overlap!r}") from None
        first, second = (tuple(side.split()) for side in sides)
        self._open.links.append(Link(second, first, share) if self._exchanged else Link(first, second, share))

    def _end(self, tag: str) -> None:
        if tag == "linkGrp" and self._open is not None:
            self._done.append(self._open)
            self._open = None
