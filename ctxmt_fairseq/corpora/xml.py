"""Reads XML with lxml; entities that it declares are refused, and nothing that it names is loaded."""

import contextlib
import zlib
from typing import Any, Iterator

from lxml import etree

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, open_text

_SAFELY = {"resolve_entities": False, "no_network": True, "remove_comments": True, "remove_pis": True}


def parse_xml(content: bytes, name: str) -> Any:
    """Parse a document, and return its root; ``name`` is for messages."""
    with _named_errors(name):
        return _checked(etree.fromstring(content, etree.XMLParser(**_SAFELY)), name)


def xml_elements(path: PathLike, tag: str) -> Iterator[Any]:
    """Yield the elements of a name in a file, compressed or not, as they end; each is gone when the next
    comes."""
    with _named_errors(path), open_text(path) as stream:
        for _, element in etree.iterparse(stream, tag=tag, **_SAFELY):
            yield _checked(element, path)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


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
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"damaged: {error or type(error).__name__}", path) from None
