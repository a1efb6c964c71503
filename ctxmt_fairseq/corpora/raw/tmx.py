"""TMX as ParaCrawl releases it: a text in two languages, and the addresses that each side is from."""

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from ctxmt_fairseq.corpora.raw.xml import PathLike, XmlStream
from ctxmt_fairseq.data.documents import LONGEST_LINE
from ctxmt_fairseq.errors import BadInput

_NO_TEXT = {"bpt", "ept", "it", "ph", "ut"}  # inside a segment: formatting of the program that it is from
_LANGUAGE = ("xml:lang", "lang")


class Side(NamedTuple):
    """One language's side of a unit.

    Attributes:
        text: of its segment.
        documents: the values of its ``source-document``: a sentence may be on several pages.
    """

    text: str
    documents: Tuple[str, ...]


class Unit(NamedTuple):
    """A translation unit (``<tu>``).

    Attributes:
        source, target: None where the unit lacks the language.
        line: of the file, from 1.
    """

    source: Optional[Side]
    target: Optional[Side]
    line: int


def read_units(path: PathLike, source_lang: str, target_lang: str) -> Iterator[Unit]:
    """The units of a TMX file, compressed or not, in order.

    A language is told by the first part of its code: en-US is en. Of several segments in a language the first
    counts.

    Raises:
        BadInput: as ``XmlStream.items``; no units, or a text longer than any sentence.
    """
    reader = _Reader(path, source_lang, target_lang)
    yield from reader.items()
    if not reader.units:
        raise BadInput("expected TMX, found no unit (<tu>)", path)


def _primary(language: str) -> str:
    return language.lower().replace("_", "-").partition("-")[0]


class _Reader(XmlStream[Unit]):
    def __init__(self, path: PathLike, source_lang: str, target_lang: str):
        super().__init__(path)
        self.units = 0
        self._wanted = _primary(source_lang), _primary(target_lang)
        self._sides: Dict[str, Side] = {}
        self._begin = 0
        self._language: Optional[str] = None  # of the open <tuv>
        self._documents: List[str] = []
        self._text: List[str] = []  # of the open <seg> or <prop>
        self._size = self._hidden = 0
        self._kind = ""  # of the open <prop>
        self._segment: Optional[str] = None

    def start(self, tag: str, attributes: Dict[str, str]) -> None:
        if tag == "tu":
            self.units += 1
            self._sides, self._begin = {}, self.line
        elif tag == "tuv":
            found = next((attributes[name] for name in _LANGUAGE if name in attributes), "")
            self._language, self._documents, self._segment = _primary(found), [], None
        elif tag in ("seg", "prop"):
            self._kind = attributes.get("type", "")
            self._collect()
        elif tag in _NO_TEXT:
            self._hidden += 1

    def end(self, tag: str) -> None:
        if tag == "seg":
            self._segment = self._collected()
        elif tag == "prop":
            value = self._collected().strip()
            if self._kind == "source-document" and self._language and value:
                self._documents.append(" ".join(value.split()))
        elif tag in _NO_TEXT:
            self._hidden -= 1
        elif tag == "tuv" and self._language is not None:
            if self._segment is not None:
                side = Side(self._segment, tuple(dict.fromkeys(self._documents)))
                self._sides.setdefault(self._language, side)
            self._language = None
        elif tag == "tu":
            source, target = (self._sides.get(language) for language in self._wanted)
            self.done.append(Unit(source, target, self._begin))

    def _collect(self) -> None:
        self._text, self._size, self._hidden = [], 0, 0
        self._parser.CharacterDataHandler = self._characters

    def _characters(self, text: str) -> None:
        self._size += len(text)
        if self._size > LONGEST_LINE:
            raise self.error(f"expected a text of at most {LONGEST_LINE} characters")
        if not self._hidden:
            self._text.append(text)

    def _collected(self) -> str:
        self._parser.CharacterDataHandler = None
        return "".join(self._text)
