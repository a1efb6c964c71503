"""Reads XML with lxml; entities that it declares are refused, and nothing that it names is loaded."""

import codecs
import contextlib
import io
import re
from typing import Any, Iterator, Union

from lxml import etree

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.compressed import as_damage
from ctxmt_fairseq.text.text_lines import LARGEST, LONGEST_LINE, PathLike, open_text

_SAFELY = {"resolve_entities": False, "no_network": True, "remove_comments": True, "remove_pis": True}

_BLOCK = 2**20  # characters that are read at once, and bytes between two elements that are wanted
_PIECE = 2**16  # bytes that are parsed at once
_ENDS = re.compile(r"</[\w:.-]+\s*>\s*$")
_DECLARED = re.compile(rb"[^<]*<\?xml[^<>]*encoding=[\"']([\w.-]+)")


def parse_xml(content: bytes, name: str) -> Any:
    """Parse a document, and return its root; ``name`` is for messages."""
    with _named_errors(name):
        return _checked(etree.fromstring(content, etree.XMLParser(**_SAFELY)), name)


def xml_elements(path: PathLike, tag: str) -> Iterator[Any]:
    """Yield the elements of a name, in any namespace, in a file, compressed or not; each is gone when the
    next comes. What is outside of them stays in memory, so XML that has much of it is refused."""
    parser = etree.XMLPullParser(("start", "end"), tag=f"{{*}}{tag}", **_SAFELY)
    with _named_errors(path), open_text(path) as stream:
        first, most, read = True, _BLOCK, 0
        while True:
            block = stream.read(_PIECE)
            parser.feed(block) if block else parser.close()
            read += len(block)
            for event, element in parser.read_events():
                if first:  # declarations come before all elements
                    _checked(element, path)
                first, read, most = False, 0, LARGEST if event == "start" else _BLOCK
                if event == "end":
                    yield element
                    while element.getprevious() is not None:
                        del element.getparent()[0]
            if read > most:
                raise BadInput(f"expected <{'/' * (most == LARGEST)}{tag}> within {most} bytes", path)
            if not block:
                return


def elements_apart(path: PathLike, tag: str) -> Iterator[Union[Any, BadInput]]:
    """Yield the elements like ``xml_elements``, but parse each by itself; of a broken one yield the error.
    They may not be within each other."""
    begin, end = re.compile(rf"<{tag}(?=[\s>])"), re.compile(rf"</{tag}\s*>")
    with _named_errors(path), open_text(path) as stream:
        text = io.TextIOWrapper(stream, _encoding(stream), errors="surrogateescape")
        line, rest, commented, block = 1, "", False, text.read(_BLOCK)
        while block:
            *whole, rest = end.split(rest + block)
            for piece in whole:
                first, line = line, line + piece.count("\n")
                if commented:
                    piece = piece.partition("-->")[2]
                before, *unclosed, inside = begin.split(piece) if begin.search(piece) else (piece, "")
                commented = commented and not piece or before.rfind("<!--") > before.rfind("-->")
                if not commented:
                    for _ in unclosed:
                        yield BadInput(f"expected </{tag}>, found <{tag}>", path, first)
                    yield _parsed(f"<{tag}{inside}</{tag}>", path, line - inside.count("\n"))
            if len(rest) > LONGEST_LINE:
                raise BadInput(f"expected </{tag}> within {LONGEST_LINE} characters", path, line)
            block = text.read(_BLOCK)
        if commented and "-->" not in rest or begin.search(rest) or not _ENDS.search(rest):
            raise BadInput("expected well-formed XML: the file ends within an element", path, line)


def _encoding(stream: Any) -> str:
    """The encoding of a file, by its first bytes."""
    first = stream.peek(200)
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = _DECLARED.match(first)
    name = declared[1].decode() if declared else "utf-8"
    return "utf-8-sig" if codecs.lookup(name).name == "utf-8" else name


def _parsed(text: str, path: PathLike, line: int) -> Union[Any, BadInput]:
    try:
        return etree.fromstring(text.encode("utf-8", "surrogateescape"), etree.XMLParser(**_SAFELY))
    except (etree.XMLSyntaxError, UnicodeEncodeError) as error:
        return BadInput(f"expected well-formed XML: {getattr(error, 'msg', error)}", path, line)


def _checked(element: Any, path: PathLike) -> Any:
    declared = element.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise BadInput("declares entities, which may be an attack; remove the declarations", path)
    return element


@contextlib.contextmanager
def _named_errors(path: PathLike) -> Iterator[None]:
    try:
        yield
    except etree.XMLSyntaxError as error:
        raise BadInput(f"expected well-formed XML: {error.msg}", path, error.lineno) from None
    except (LookupError, UnicodeError) as error:  # an encoding that is none, or not the file's
        raise BadInput(f"expected well-formed XML: {error}", path) from None
    except Exception as error:
        raise as_damage(error, path) from None
