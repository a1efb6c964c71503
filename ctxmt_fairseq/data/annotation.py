"""Linguistic annotation of a text, made by any tagger: JSON lines, one for each sentence::

    {"words": [{"text": "dogs", "start": 4, "end": 8, "pos": "NOUN", "lemma": "dog", "number": "Plur"}]}

``start`` and ``end`` are places in the sentence, in characters, without blanks at its ends. ``pos``,
``lemma``, ``gender`` and ``number`` may be left out or null; other keys are passed over.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, List, Optional, Sequence

from ctxmt_fairseq.data.json_files import Place, get, json_lines
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.errors import BadInput

LABELS = ("pos", "lemma", "gender", "number")


@dataclass(frozen=True)
class AnnotatedWord:
    """A word of a sentence, which is ``sentence[start:end]``, and what is known of it."""

    text: str
    start: int
    end: int
    pos: Optional[str] = None
    lemma: Optional[str] = None
    gender: Optional[str] = None
    number: Optional[str] = None


def is_noun(word: AnnotatedWord) -> bool:
    """By its part of speech, of Universal Dependencies or the Penn Treebank."""
    return word.pos in ("NOUN", "PROPN") or (word.pos or "").startswith("NN")


def annotation_line(words: Sequence[AnnotatedWord]) -> str:
    """The words of a sentence as ``read_annotation`` reads them; what is not known is left out."""
    known = [{key: value for key, value in asdict(word).items() if value is not None} for word in words]
    return json.dumps({"words": known}, ensure_ascii=False)


def read_annotation(path: PathLike, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
    """The words of every sentence, in their order.

    Args:
        sentences: the annotated text.

    Raises:
        BadInput: another number of lines; words that overlap or are not what the sentence has at their place.
    """
    annotated = []
    for number, (place, record) in enumerate(json_lines(path)):
        if number >= len(sentences):
            raise place.error(f"expected {len(sentences)} lines, one for each sentence, found more")
        annotated.append(_words(place, get(place, record, "words", list), sentences[number]))
    if len(annotated) < len(sentences):
        raise BadInput(
            f"expected {len(sentences)} lines, one for each sentence, found {len(annotated)}", path
        )
    return annotated


def _words(place: Place, records: List[Any], sentence: str) -> List[AnnotatedWord]:
    words: List[AnnotatedWord] = []
    for record in records:
        text, start, end = (
            get(place, record, "text", str),
            *(get(place, record, k, int) for k in ("start", "end")),
        )
        last = words[-1].end if words else 0
        if not last <= start < end <= len(sentence) or sentence[start:end] != text:
            found = sentence[start:end] if 0 <= start < end else ""
            raise place.error(f"expected the word {text!r} at {start} to {end}, found {found!r}")
        labels = {name: get(place, record, name, str, null=True) for name in LABELS if name in record}
        words.append(AnnotatedWord(text, start, end, **labels))
    return words
