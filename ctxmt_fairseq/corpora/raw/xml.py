"""XML from elsewhere: parsed without following or expanding anything that it declares."""

from pathlib import Path
from typing import Union
from xml.etree import ElementTree
from xml.parsers import expat

from ctxmt_fairseq.errors import BadInput


def parse_xml(content: bytes, name: Union[str, Path]) -> ElementTree.Element:
    """The root element of an XML document.

    Raises:
        BadInput: it is not well-formed, or it declares entities, with which a small file fills the memory.
    """
    if b"<!ENTITY" in content:
        raise BadInput("expected XML without declarations of entities", name)
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise BadInput(
            f"expected well-formed XML: {expat.ErrorString(error.code)}", name, error.position[0]
        ) from None
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        raise BadInput(f"expected well-formed XML: {error}", name) from None
