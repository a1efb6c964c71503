"""OPUS alignment files: which sentences of two documents are translations of each other."""

from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from ctxmt_fairseq.corpora.raw.xml import XmlStream
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]


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
    """Collects documents as they end."""

    def __init__(self, path: PathLike, source_lang: str, target_lang: str):
        super().__init__(path)
        self.languages, self.groups = (source_lang, target_lang), 0
        self._open: Optional[LinkedDocuments] = None
        self._exchanged = False

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
            self._open = LinkedDocuments(source, target, [], self.line)

    def _link(self, attributes: Dict[str, str]) -> None:
        sides = attributes.get("xtargets", "").split(";")
        if len(sides) != 2 or self._open is None:
            raise self.error("expected a link of two sides, as xtargets='1 2;3'")
        overlap = attributes.get("overlap")
        try:
            share = None if overlap is None else float(overlap)
        except ValueError:
            raise self.error(f"expected a number as overlap, found {overlap!r}") from None
        first, second = (tuple(side.split()) for side in sides)
        self._open.links.append(Link(second, first, share) if self._exchanged else Link(first, second, share))

    def end(self, tag: str) -> None:
        if tag == "linkGrp" and self._open is not None:
            self.done.append(self._open)
            self._open = None
