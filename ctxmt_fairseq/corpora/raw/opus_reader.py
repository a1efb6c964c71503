"""Sentences of OPUS XML of any form, as expat reads them."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ctxmt_fairseq.corpora.raw.subtitle_times import Marks
from ctxmt_fairseq.corpora.raw.xml import XmlStream

_LABELS = ("NAME", "name", "ID", "id")
_CLOCK = re.compile(r"\s*(\d+):(\d+):(\d+)(?:[.,:](\d+))?\s*")
Place = Tuple[Tuple[str, str], ...]


class Sentences(NamedTuple):
    """What is in a document.

    Attributes:
        ids, texts, places: see ``opus_document.Document``.
        lengths: (N,), characters of each sentence, blanks not counted.
        marks: of time.
        unreadable_times: time marks that are no time.
    """

    ids: List[str]
    texts: List[str]
    lengths: np.ndarray
    marks: Marks
    unreadable_times: int
    places: List[Place]


class OpusReader(XmlStream[None]):
    """Collects sentences as they end; a tree of all words would take twice the time."""

    def __init__(self, name: str):
        super().__init__(name)
        self.places: List[Place] = []
        self._ids: List[str] = []
        self._texts: List[str] = []
        self._marks: List[Tuple[int, int, bool, float]] = []
        self._unreadable = 0
        self._tokenised = False  # whether a word was seen: from then on nothing else is text
        self._around: List[Place] = [()]  # of every open element outside of sentences
        self._depth = 0  # of elements, from the open sentence on
        self._pieces: List[str] = []  # of the open sentence: words, or what stands there

    def sentences(self) -> Sentences:
        """What was read."""
        columns = zip(*self._marks, strict=True) if self._marks else ((), (), (), ())
        types = (np.int64, np.int64, np.bool_, np.float64)
        marks = Marks(*(np.array(column, kind) for column, kind in zip(columns, types, strict=True)))
        lengths = np.array([_length(text) for text in self._texts], np.int64)
        return Sentences(self._ids, self._texts, lengths, marks, self._unreadable, self.places)

    def start(self, tag: str, attributes: Dict[str, str]) -> None:
        if self._depth:
            self._depth += 1
            if tag == "w":
                if not self._tokenised:
                    self._forget_raw_text()
                self._pieces.append(" ")
                self._parser.CharacterDataHandler = self._pieces.append
            elif tag == "time":
                self._time(attributes)
                self._parser.CharacterDataHandler = None
        elif tag == "s":
            if not attributes.get("id"):
                raise self.error("expected an id of every sentence (<s id=...>)")
            self._depth, self._pieces = 1, []
            self._ids.append(attributes["id"])
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
            self._texts.append(" ".join("".join(self._pieces).split()))
        elif not self._tokenised:
            self._parser.CharacterDataHandler = self._pieces.append

    def _forget_raw_text(self) -> None:
        """The first word: blanks between words are no text, nor is what stood before."""
        self._tokenised = True
        self._pieces = []
        self._texts = [""] * len(self._texts)
        self._marks = [(sentence, 0, end, seconds) for sentence, _, end, seconds in self._marks]

    def _time(self, attributes: Dict[str, str]) -> None:
        seconds, kind = _seconds(attributes.get("value", "")), attributes.get("id", "")[-1:]
        if seconds is None or kind not in ("S", "E"):
            self._unreadable += 1
        else:
            self._marks.append((len(self._ids) - 1, _length("".join(self._pieces)), kind == "E", seconds))


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
