"""XML from elsewhere, element by element; nothing that it declares is followed or expanded."""

import contextlib
import gzip
import re
import zlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Dict, Generic, Iterator, List, TypeVar, Union
from xml.parsers import expat

from ctxmt_fairseq.data.documents import open_file
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
Item = TypeVar("Item")
_CHUNK = 1 << 20
_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^<>]*>")


def in_utf8(content: bytes) -> bool:
    """Whether XML declares no other encoding than UTF-8, which is that of XML without a declaration."""
    declaration = _DECLARATION.match(content)
    if declaration is None or b"encoding" not in declaration[0]:
        return True
    return b'encoding="utf-8"' in declaration[0].lower().replace(b"'", b'"')


class XmlStream(ABC, Generic[Item]):
    """Handlers of a streaming parser; a subclass puts into ``done`` what an element holds when it ends.

    Attributes:
        path: the file, or the name of what is parsed.
        done: items that nobody has taken yet.
    """

    def __init__(self, path: PathLike):
        self.path = path
        self.done: List[Item] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.specified_attributes = True  # none that only a document type declares
        self._parser.StartElementHandler = self.start
        self._parser.EndElementHandler = self.end
        self._parser.EntityDeclHandler = self._entity

    @abstractmethod
    def start(self, tag: str, attributes: Dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def end(self, tag: str) -> None:
        """An element ends."""

    @property
    def line(self) -> int:
        """Where the parser is."""
        return self._parser.CurrentLineNumber

    def error(self, message: str) -> BadInput:
        """The ``BadInput`` to raise where the parser is."""
        return BadInput(message, self.path, self.line)

    def _entity(self, *_: Any) -> None:
        raise self.error("expected XML without declarations of entities")

    def items(self) -> Iterator[Item]:
        """Read the file, compressed or not; memory holds a piece of it.

        Raises:
            BadInput: no such file, a damaged one, no well-formed XML, or declarations of entities.
        """
        with self._named_errors(), open_file(self.path) as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if zipped else raw
            while chunk := stream.read(_CHUNK):
                self.feed(chunk)
                yield from self._taken()
            self.feed(b"", last=True)
            yield from self._taken()

    def feed(self, chunk: bytes, last: bool = False) -> None:
        """Take in what comes next."""
        self._parser.Parse(chunk, last)

    def parse(self, content: bytes) -> None:
        """Read the whole of a document; ``path`` is for messages.

        Raises:
            BadInput: no well-formed XML, or declarations of entities.
        """
        with self._named_errors():
            self._parser.Parse(content, True)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise BadInput("no such file", self.path) from None
        except expat.ExpatError as error:
            message = f"expected well-formed XML: {expat.ErrorString(error.code)}"
            raise BadInput(message, self.path, error.lineno) from None
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"damaged: {error or type(error).__name__}", self.path) from None
        except LookupError as error:  # an encoding that nobody knows
            raise BadInput(f"expected well-formed XML: {error}", self.path) from None

    def _taken(self) -> List[Item]:
        done, self.done = self.done, []
        return done
