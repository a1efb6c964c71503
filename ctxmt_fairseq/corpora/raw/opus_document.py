"""Documents in OPUS XML: sentences with their text and, in subtitles, their time."""

import re
from typing import Iterator, List, NamedTuple, Optional, Tuple, Union
from xml.etree.ElementTree import Element

from ctxmt_fairseq.corpora.raw.subtitle_times import Event, Timed, sentence_times
from ctxmt_fairseq.corpora.raw.xml import parse_xml
from ctxmt_fairseq.errors import BadInput

_CLOCK = re.compile(r"\s*(\d+):(\d+):(\d+)(?:[.,:](\d+))?\s*")


class Document(NamedTuple):
    """A document's sentences, in order.

    Attributes:
        ids: of the sentences.
        texts: their words joined by spaces (``xml``) or the text as it stands (``raw``).
        times: in seconds; None for a document without times.
        unreadable_times: time marks that are no time.
        places: what stands around each sentence, by the names of its elements (see ``read_opus_document``).
    """

    ids: List[str]
    texts: List[str]
    times: Optional[Timed]
    unreadable_times: int
    places: List[Tuple[Tuple[str, str], ...]]


def read_opus_document(content: bytes, name: str) -> Document:
    """Read a document of OPUS, tokenised (``<w>``) or raw.

    Chapters, speakers, paragraphs and the like (``<CHAPTER ID="2">``, ``<SPEAKER NAME="...">``) are kept as
    the ``places`` of the sentences inside: (element, its NAME or ID).

    Raises:
        BadInput: broken XML, no sentences, a sentence without an id, or an id that stands there twice.
    """
    ids: List[str] = []
    texts: List[str] = []
    events: List[Event] = []
    places: List[Tuple[Tuple[str, str], ...]] = []
    unreadable = 0
    root = parse_xml(content, name)
    read_text = _raw if root.find(".//w") is None else _tokenised
    for element, around in _sentences(root, ()):
        number = element.get("id")
        if not number:
            raise BadInput("expected an id of every sentence (<s id=...>)", name)
        text, marks = read_text(element)
        for position, mark in marks:
            seconds = _seconds(mark.get("value", ""))
            kind = mark.get("id", "")[-1:]
            if seconds is None or kind not in "SE":
                unreadable += 1
            else:
                events.append(Event(len(ids), position, kind == "E", seconds))
        ids.append(number)
        texts.append(text)
        places.append(around)
    if not ids:
        raise BadInput("expected a document of OPUS, found no sentences (<s>)", name)
    if len(set(ids)) != len(ids):
        raise BadInput("expected ids of sentences that differ", name)
    times = sentence_times([_length(text) for text in texts], events) if events else None
    return Document(ids, texts, times, unreadable, places)


_Around = Tuple[Tuple[str, str], ...]


def _sentences(element: Element, around: _Around) -> Iterator[Tuple[Element, _Around]]:
    """The ``<s>`` elements in order, and what is around each; not recursive, for nesting may be deep."""
    stack = [(element, around)]
    while stack:
        element, around = stack.pop()
        if element.tag == "s":
            yield element, around
            continue
        label = element.get("NAME") or element.get("name") or element.get("ID") or element.get("id")
        inside = (*around, (element.tag.lower(), label)) if label and element.tag != "document" else around
        stack += [(child, inside) for child in reversed(element)]


def _tokenised(sentence: Element) -> Tuple[str, List[Tuple[int, Element]]]:
    """The words of a sentence joined by spaces, and its time marks with the characters before each."""
    words: List[str] = []
    marks: List[Tuple[int, Element]] = []
    characters = 0
    for element in sentence.iter():
        if element.tag == "w":
            word = element.text or ""
            words.append(word)
            characters += len(word)
        elif element.tag == "time":
            marks.append((characters, element))
    return " ".join(words), marks


def _raw(sentence: Element) -> Tuple[str, List[Tuple[int, Element]]]:
    """A sentence's text, blanks folded, and its time marks with the characters before each, blanks aside."""
    pieces: List[str] = []
    marks: List[Tuple[int, Element]] = []
    stack: List[Union[str, Element, None]] = [sentence]
    while stack:
        item = stack.pop()
        if isinstance(item, Element):
            if item.tag == "time":
                marks.append((_length("".join(pieces)), item))
                continue
            for child in reversed(item):
                stack += [child.tail, child]
            stack.append(item.text)
        elif item:
            pieces.append(item)
    return " ".join("".join(pieces).split()), marks


def _length(text: str) -> int:
    """Characters, blanks not counted."""
    return sum(map(len, text.split()))


def _seconds(value: str) -> Optional[float]:
    """A time such as 00:01:05,897 in seconds; None if it is none."""
    clock = _CLOCK.fullmatch(value)
    if clock is None:
        return None
    hours, minutes, seconds, fraction = clock.groups(default="0")
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + float(f"0.{fraction}")
