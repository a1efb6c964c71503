"""Reads OPUS' files: documents in XML, and alignments, which say what sentences translate each other."""

import re
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.formats.opus_names import order_of
from ctxmt_fairseq.corpora.formats.opus_scanner import Document, metadata_around, metadata_of, scan
from ctxmt_fairseq.corpora.formats.subtitle_times import Marks
from ctxmt_fairseq.corpora.xml import parse_xml, xml_elements
from ctxmt_fairseq.text.text_lines import PathLike

_CLOCK = re.compile(r"\s*(\d{1,9}):(\d{1,9}):(\d{1,9})(?:[.,:](\d{1,9}))?\s*")


class Link(NamedTuple):
    """Ids of sentences that translate each other; one side of an unaligned sentence's link is empty.
    ``overlap`` is the share of time that subtitles have in common; None if the file does not say."""

    source: Tuple[str, ...]
    target: Tuple[str, ...]
    overlap: Optional[float] = None


class LinkedDocuments(NamedTuple):
    """Two documents and all links between them, in the order of the file."""

    source: str
    target: str
    links: List[Link]


def read_opus_document(content: bytes, name: str) -> Document:
    """Read a document of OPUS, tokenised (``<w>``) or raw; messages call it ``name``."""
    found = scan(content) or _parsed(parse_xml(content, name), name)
    if not found.ids:
        raise BadInput("expected a document of OPUS, found no sentences (<s>)", name)
    if len(set(found.ids)) != len(found.ids):
        raise BadInput("two sentences have the same id", name)
    return found


def _parsed(root: Any, name: str) -> Document:
    """Read a document that is not regular."""
    tokenised = root.find(".//s//w") is not None  # then nothing else is text
    between = " " if tokenised else ""
    ids, texts, metadata, marks = [], [], [], []  # type: List[str], List[str], List[Any], List[Any]
    unreadable, about = 0, metadata_of(root)
    for number, sentence in enumerate(root.iter("s")):
        if not sentence.get("id"):
            raise BadInput("the sentence has no id (<s id=...>)", name, sentence.sourceline)
        pieces: List[str] = []
        words = ((element, element.text or "") for element in sentence.iter("w", "time"))
        for element, text in words if tokenised else _pieces(sentence):
            if element.tag != "time":
                pieces.append(text)
            elif (seconds := _seconds(element)) is None:
                unreadable += 1
            else:
                marks.append((number, _length(pieces), element.get("id").endswith("E"), seconds))
        ids.append(sentence.get("id"))
        texts.append(" ".join(between.join(pieces).split()))
        metadata.append({**about, **metadata_around(sentence)})
    lengths = np.array([_length(text) for text in texts], np.int64)
    columns = zip(*marks, strict=True) if marks else ((), (), (), ())
    return Document(ids, texts, metadata, lengths, Marks(*map(np.array, columns)), unreadable)


def _pieces(element: Any) -> Iterator[Tuple[Any, str]]:
    """The content of an element in order: marks of time, and pieces of text, each with its element."""
    yield element, element.text or ""
    for child in element:
        yield from _pieces(child)
        yield element, child.tail or ""


def _length(pieces: Iterable[str]) -> int:
    """Count the characters without blanks."""
    return len("".join("".join(pieces).split()))


def _seconds(mark: Any) -> Optional[float]:
    """Read a time such as 00:01:05,897 in seconds; None if it is no time, or neither a start nor an end."""
    clock = _CLOCK.fullmatch(mark.get("value", ""))
    if clock is None or not mark.get("id", "").endswith(("S", "E")):
        return None
    hours, minutes, seconds, fraction = clock.groups(default="0")
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + float(f"0.{fraction}")


def read_links(path: PathLike, source_lang: str, target_lang: str) -> Iterator[LinkedDocuments]:
    """Read an alignment file, compressed or not, document by document; if the target language comes first
    (``order_of``), the sides are exchanged."""
    group = None
    for group in xml_elements(path, "linkGrp"):
        names = group.get("fromDoc", ""), group.get("toDoc", "")
        order = order_of(names, (source_lang, target_lang), path, group.sourceline)
        links = [_link(element, order, path) for element in group.iter("link")]
        source, target = names[::order]
        yield LinkedDocuments(source, target, links)
    if group is None:
        raise BadInput("expected an alignment of OPUS, found no <linkGrp>", path)


def _link(element: Any, order: int, path: PathLike) -> Link:
    sides = element.get("xtargets", "").split(";")
    if len(sides) != 2:
        raise BadInput("expected a link of two sides, as xtargets='1 2;3'", path, element.sourceline)
    overlap = element.get("overlap")
    try:
        share = None if overlap is None else float(overlap)
    except ValueError:
        raise BadInput(f"expected a number as overlap, found {overlap!r}", path, element.sourceline) from None
    first, second = sides[::order]
    return Link(tuple(first.split()), tuple(second.split()), share)
