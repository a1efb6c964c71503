"""Elements within a text of XLIFF, such as ``<g>`` and ``<x/>``, as tags, in whose order they come out."""

import copy
import re
from typing import Any, List

_AROUND_TEXT = ("g", "mrk", "pc")  # the others hold no text, or code
_CLOSING = ("ept", "ex", "ec", "em")


class InlineElements:
    """A ``<source>`` as text with a tag for each element within it.

    Args:
        source: the element of lxml.
        mark: what the names of the tags begin with; no text has it.

    Attributes:
        text: that of the source, with the tags.
    """

    def __init__(self, source: Any, mark: str):
        self._tag = re.compile(rf"(</?{mark}\d+/?>)")
        self._mark = mark
        self._elements: List[Any] = []
        self.text = self._text(source)

    def __bool__(self) -> bool:
        return bool(self._elements)

    def _text(self, parent: Any) -> str:
        text = parent.text or ""
        for child in parent:
            name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""  # of a comment
            tag = f"{self._mark}{len(self._elements)}"
            self._elements.append(child)
            if name in _AROUND_TEXT and "no" != child.get("translate") and "protected" != child.get("mtype"):
                text += f"<{tag}>{self._text(child)}</{tag}>"
            else:
                one = f"</{tag}/>" if name in _CLOSING else f"<{tag}/>"
                breaks = "lb" in (child.get("ctype"), str(child.get("subType")).rpartition(":")[2])
                text += f" {one} " if breaks else one  # a line's last word and the next one's first are two
            text += child.tail or ""
        return text

    def are_in_order(self, text: str) -> bool:
        """Whether a text has the source's tags, in their order."""
        return self._tag.findall(text) == self._tag.findall(self.text)

    def fill(self, target: Any, text: str) -> None:
        """Write a text that has the tags into an element, with what they stand for."""
        target.text, target[:] = "", []
        parents, last = [target], None
        for part in self._tag.split(text):
            if not self._tag.fullmatch(part):
                if last is None:
                    parents[-1].text = part
                else:
                    last.tail = part
            elif part.startswith("</") and not part.endswith("/>"):
                last = parents.pop()
            else:
                element = self._elements[int(part.strip("</>")[len(self._mark) :])]
                if part.endswith("/>"):
                    last = copy.deepcopy(element)
                    parents[-1].append(last)
                else:
                    last = None
                    around = target.makeelement(element.tag, element.attrib, element.nsmap)
                    parents[-1].append(around)
                    parents.append(around)
