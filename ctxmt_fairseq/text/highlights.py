"""Words of a training text that need context, as people found, and the words that support them (SCAT, Yin et
al. 2021): JSON lines, an object for each sentence that has such words::

    {"line": 7, "source": {"words": [2], "support": {"-1": [4, 5]}},
                "target": {"words": [0], "support": {"-2": [3], "0": [6]}}}

``line`` is the current sentence's, from 1; ``words`` are its words that need context; ``support`` has, by the
distance of a sentence (-1: the one before, 1: the next, 0: the current one itself), the words there that show
how to translate them. Words are counted from 0, as the subword model reads them: between white space (tokens,
if the data folder's text was tokenised), in scripts without blanks single characters (``words_of``). An entry
that would be empty may be left out.
"""

import logging
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.json_files import Place, get, json_lines
from ctxmt_fairseq.text.text_lines import PathLike

logger = logging.getLogger(__name__)

SIDES = ("source", "target")
_DISTANCE = re.compile(r"-?[0-9]{1,3}")
Sentence = Tuple[str, int]  # side and line, from 0
# Gives the places of each word's subwords in a sentence; None: they cannot be told.
WordPlaces = Callable[[Sentence], Optional[Sequence[np.ndarray]]]


@dataclass(frozen=True)
class LineHighlights:
    """The highlights of one current sentence, as places of subwords: of each highlighted word by side, and by
    sentence those that support them."""

    words: Dict[str, List[np.ndarray]]
    support: Dict[Sentence, np.ndarray]


def read_highlights(
    path: PathLike, documents: Documents, word_places: WordPlaces
) -> Dict[int, LineHighlights]:
    """Read the highlights of a text, by line from 0.

    A line is left out if a sentence's words cannot be told apart because a subword is unknown; how many are
    is logged with the other counts.
    """
    found: Dict[int, LineHighlights] = {}
    left_out = 0
    lines = set()
    for place, record in json_lines(path):
        line = get(place, record, "line", int) - 1
        if not 0 <= line < documents.sentences:
            raise place.error(f"expected a line from 1 to {documents.sentences}, found {line + 1}")
        if line in lines:
            raise place.error(f"line {line + 1} of the text is there twice")
        lines.add(line)
        converted = _converted(place, line, _marked(place, record, line, documents), word_places)
        if converted is None:
            left_out += 1
        else:
            found[line] = converted
    if not lines:
        raise BadInput("expected highlights, found an empty file", path)
    words = sum(len(words) for each in found.values() for words in each.words.values())
    logger.info(
        "%s: %d highlighted words in %d sentences; %d sentences left out for unknown subwords",
        *(path, words, len(found), left_out),
    )
    return found


_Marked = Tuple[Dict[str, List[int]], Dict[Sentence, List[int]]]  # words, by side; support


def _marked(place: Place, record: Any, line: int, documents: Documents) -> _Marked:
    """Read one line's highlights, as words."""
    words: Dict[str, List[int]] = {}
    support: Dict[Sentence, List[int]] = {}
    (start,), (end,) = documents.bounds(np.array([line]))
    for side in SIDES:
        entry = get(place, record, side, dict) if side in record else {}
        if entry.get("words"):
            words[side] = _numbers(place, entry, "words")
        sentences = get(place, entry, "support", dict) if "support" in entry else {}
        for distance in sentences:
            numbers = _numbers(place, sentences, distance)
            sentence = line + int(distance) if _DISTANCE.fullmatch(distance) else -1
            if not start <= sentence < end:
                wanted = f"{side}: expected a distance in sentences within the document"
                raise place.error(f"{wanted}, found {distance[:20]!r}")
            support.setdefault((side, sentence), []).extend(numbers)
    if not words or not any(support.values()):
        raise place.error("expected words, and words that support them")
    return words, support


def _numbers(place: Place, record: Dict[str, Any], key: str) -> List[int]:
    numbers = get(place, record, key, list)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise place.error(f"expected a list of words, counted from 0, at the key {key[:20]!r}")
    return sorted(set(numbers))


def _converted(place: Place, line: int, marked: _Marked, word_places: WordPlaces) -> Optional[LineHighlights]:
    """Turn the words of one line's highlights into places of subwords; None: they cannot be told."""

    def chosen(sentence: Sentence, numbers: Sequence[int]) -> Optional[List[np.ndarray]]:
        places = word_places(sentence)
        if places is None:
            return None
        for number in numbers:
            if number >= len(places):
                words = f"words of line {sentence[1] + 1}, which has {len(places)}"
                raise place.error(f"{sentence[0]}: expected {words}, found {number}")
        return [places[number] for number in numbers]

    words = {side: chosen((side, line), numbers) for side, numbers in marked[0].items()}
    support = {sentence: chosen(sentence, numbers) for sentence, numbers in marked[1].items()}
    if any(places is None for places in [*words.values(), *support.values()]):
        return None
    return LineHighlights(
        {side: places for side, places in words.items() if places},
        {sentence: np.concatenate(places) for sentence, places in support.items() if places},
    )


def places_of_words(starts: Sequence[bool]) -> List[np.ndarray]:
    """The places of each word's subwords, given which subwords start a word; the first one always does."""
    places = np.arange(len(starts))
    first = np.flatnonzero(np.asarray(starts, bool)[1:]) + 1
    return np.split(places, first) if len(places) else []
