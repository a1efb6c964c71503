"""Linguistic annotation of a text, by any tagger: JSON lines, one for each sentence::

    {"words": [{"text": "dogs", "start": 4, "end": 8, "pos": "NOUN", "lemma": "dog", "number": "Plur"}]}

``start`` and ``end`` are places in the sentence, in characters, without blanks at its ends. ``pos``,
``lemma``, ``gender``, ``number``, ``case``, ``person`` and ``verb_form`` may be missing or null; other keys
are ignored.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Iterator, List, Optional, Sequence

from ctxmt_fairseq.text.json_files import Place, get, json_lines
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, one_each, together

EDGES = ("start", "end")
LABELS = ("pos", "lemma", "gender", "number", "case", "person", "verb_form")


@dataclass(frozen=True)
class AnnotatedWord:
    """A word, ``sentence[start:end]`` of its sentence, and what is known of it."""

    text: str
    start: int
    end: int
    pos: Optional[str] = None
    lemma: Optional[str] = None
    gender: Optional[str] = None
    number: Optional[str] = None
    case: Optional[str] = None
    person: Optional[str] = None
    verb_form: Optional[str] = None


def is_noun(word: AnnotatedWord) -> bool:
    """Whether its part of speech, of Universal Dependencies or the Penn Treebank, says so."""
    return word.pos in ("NOUN", "PROPN") or (word.pos or "").startswith("NN")


def annotation_line(words: Sequence[AnnotatedWord]) -> str:
    """Write the words of a sentence as ``read_annotation`` reads them, without what is not known."""
    known = [{key: value for key, value in asdict(word).items() if value is not None} for word in words]
    return json.dumps({"words": known}, ensure_ascii=False)


def read_annotation(path: PathLike, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
    """Read each sentence's words, in order; they must not overlap, and be what is at their places."""
    lines = one_each(json_lines(path), len(sentences), path)
    return [
        _words(place, get(place, record, "words", list), sentences[number])
        for number, (place, record) in enumerate(lines)
    ]


def iterate_annotation(path: PathLike, text: PathLike) -> Iterator[List[AnnotatedWord]]:
    """Yield the words of every line of a text's file, as ``read_annotation`` reads them."""
    for sentence, (place, record) in together([(text, iterate_lines(text)), (path, json_lines(path))]):
        yield _words(place, get(place, record, "words", list), sentence.strip())


def _words(place: Place, records: List[Any], sentence: str) -> List[AnnotatedWord]:
    words: List[AnnotatedWord] = []
    for record in records:
        text, (start, end) = get(place, record, "text", str), (get(place, record, k, int) for k in EDGES)
        last = words[-1].end if words else 0
        if not last <= start < end <= len(sentence) or sentence[start:end] != text:
            found = sentence[start:end] if 0 <= start < end else ""
            raise place.error(f"expected the word {text!r} at {start} to {end}, found {found!r}")
        labels = {name: get(place, record, name, str, null=True) for name in LABELS if name in record}
        words.append(AnnotatedWord(text, start, end, **labels))
    return words
