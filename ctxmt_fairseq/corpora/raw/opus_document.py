"""Documents in OPUS XML: sentences with their text and, in subtitles, their time."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ctxmt_fairseq.corpora.raw.subtitle_times import Event, Timed, sentence_times
from ctxmt_fairseq.corpora.raw.xml import XmlStream
from ctxmt_fairseq.errors import BadInput

_LABELS = ("NAME", "name", "ID", "id")
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
    reader = _Reader(name)
    reader.parse(content)
    if not reader.ids:
        raise BadInput("expected a document of OPUS, found no sentences (<s>)", name)
    if len(set(reader.ids)) != len(reader.ids):
        raise BadInput("expected ids of sentences that differ", name)
    times = None
    if reader.events:
        times = sentence_times([_length(text) for text in reader.texts], reader.events)
    return Document(reader.ids, reader.texts, times, reader.unreadable, reader.places)


_Around = Tuple[Tuple[str, str], ...]


class _Reader(XmlStream[None]):
    """Collects sentences as they end; a tree of all words would take twice the time."""

    def __init__(self, name: str):
        super().__init__(name)
        self.ids: List[str] = []
        self.texts: List[str] = []
        self.events: List[Event] = []
        self.places: List[_Around] = []
        self.unreadable = 0
        self._tokenised = False  # whether a word was seen: from then on nothing else is text
        self._around: List[_Around] = [()]  # of every open element outside of sentences
        self._depth = 0  # of elements, from the open sentence on
        self._pieces: List[str] = []  # of the open sentence: words, or what stands there

    def start(self, tag: str, attributes: Dict[str, str]) -> None:
        if self._depth:
            self._depth += 1
            if tag == "w":
                if not self._tokenised:
                    self._forget_raw_text()
                self._parser.CharacterDataHandler = self._pieces.append
            elif tag == "time":
                self._time(attributes)
                self._parser.CharacterDataHandler = None
        elif tag == "s":
            if not attributes.get("id"):
                raise self.error("expected an id of every sentence (<s id=...>)")
            self._depth, self._pieces = 1, []
            self.ids.append(attributes["id"])
            self.places.append(self._around[-1])
            if not self._tokenised:
                self._parser.CharacterDataHandler = self._pieces.append
        else:
            label = next((attributes[key] for key in _LABELS if attributes.get(key)), None)
            inside = self._around[-1]
            if label and tag != "document":
                inside = (*inside, (tag.lower(), label))
            self._around.append(inside)

    def end(self, tag: str) -> None:
        if not self._depth:
            self._around.pop()
            return
        self._depth -= 1
        self._parser.CharacterDataHandler = None
        if not self._depth:
            text = (" " if self._tokenised else "").join(self._pieces)
            self.texts.append(text if self._tokenised else " ".join(text.split()))
        elif not self._tokenised:
            self._parser.CharacterDataHandler = self._pieces.append

    def _forget_raw_text(self) -> None:
        """The first word: blanks between words are no text, nor is what stood before."""
        self._tokenised = True
        self._pieces = []
        self.texts = [""] * len(self.texts)
        self.events = [event._replace(position=0) for event in self.events]

    def _time(self, attributes: Dict[str, str]) -> None:
        seconds, kind = _seconds(attributes.get("value", "")), attributes.get("id", "")[-1:]
        if seconds is None or kind not in "SE":
            self.unreadable += 1
        else:
            position = sum(map(len, self._pieces)) if self._tokenised else _length("".join(self._pieces))
            self.events.append(Event(len(self.ids) - 1, position, kind == "E", seconds))


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
