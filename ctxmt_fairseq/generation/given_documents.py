"""Documents that Python code gives, as lists of sentences: checked, and laid out as a file would be."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.glossary import Glossary, read_glossary
from ctxmt_fairseq.text.metadata_text import prompts, texts_by_field

T = TypeVar("T")
OF_DOCUMENTS = "documents, each a list of sentences"


@dataclass(frozen=True)
class GivenDocuments:
    """Documents as they were given, with their numbers of sentences and what the caller calls them."""

    sentences: List[str]
    lengths: List[int]
    name: str = "documents"

    @classmethod
    def of(cls, documents: Any, name: str = "documents") -> "GivenDocuments":
        """Check a list of documents, each a list of sentences that a file could hold."""
        return cls(*_nested(documents, name, OF_DOCUMENTS, "sentences", _sentence), name)

    def place(self, sentence: int) -> str:
        """Name the place of a sentence."""
        number = int(np.searchsorted(self.documents.starts, sentence, side="right")) - 1
        return f"{self.name}[{number}][{sentence - int(self.documents.starts[number])}]"

    @property
    def current(self) -> np.ndarray:
        """(n,) bool: all sentences are translated."""
        return np.ones(len(self.sentences), bool)

    @functools.cached_property
    def documents(self) -> Documents:
        """Their boundaries."""
        return Documents.from_lengths(self.lengths)

    def nested(self, values: Sequence[T]) -> List[List[T]]:
        """One value for each sentence, in the shape of the documents."""
        rest = iter(values)
        return [[next(rest) for _ in range(length)] for length in self.lengths]

    def check_alike(self, other: "GivenDocuments", name: str) -> None:
        """Refuse ``other``, which the caller calls ``name``, if it has another shape."""
        if len(other.lengths) != len(self.lengths):
            raise BadInput(f"{name}: expected {len(self.lengths)} documents, found {len(other.lengths)}")
        for number, (expected, found) in enumerate(zip(self.lengths, other.lengths, strict=True)):
            if expected != found:
                raise BadInput(f"{name}[{number}]: expected {expected} sentences, found {found}")

    def metadata(self, contexts: Any) -> List[Dict[str, str]]:
        """Give each sentence's metadata, text by field.

        Args:
            contexts: for every sentence, in the shape of the documents, a dictionary of texts, a text that is
                taken as it is ("Formal conversation"), a list of such texts, or None; or one dictionary or
                one text for all sentences; None: there is no metadata.
        """
        if contexts is None or isinstance(contexts, (str, Mapping)):
            return [_fields(contexts, "contexts")] * len(self.sentences)
        kinds = "documents, as in documents", "contexts, one for each sentence"
        found, lengths = _nested(contexts, "contexts", *kinds, _fields)
        self.check_alike(GivenDocuments([], lengths), "contexts")
        return found


def _nested(
    given: Any, name: str, of: str, of_each: str, read: Callable[[Any, str], T]
) -> Tuple[List[T], List[int]]:
    """Read every entry of a list of lists by ``read``, and count the entries of each inner list; in messages
    the list is ``name``, which should hold ``of``, and its lists ``of_each``."""
    found: List[T] = []
    lengths: List[int] = []
    for number, inner in enumerate(entries(given, name, of)):
        place = f"{name}[{number}]"
        read_ones = [read(entry, f"{place}[{at}]") for at, entry in enumerate(entries(inner, place, of_each))]
        found += read_ones
        lengths.append(len(read_ones))
    return found, lengths


def entries(given: Any, place: str, of: str = OF_DOCUMENTS) -> Iterable[Any]:
    """Refuse what is no list, tuple or the like. A text counts as none, although it has characters."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise BadInput(f"{place}: expected a list of {of}, found a {type(given).__name__}")
    return given


def given_glossary(glossary: Any, keep: Any) -> Optional[Glossary]:
    """Check terms, and make a glossary of them; see ``read_glossary``."""
    terms = [_text(term, f"keep[{number}]") for number, term in enumerate(entries(keep, "keep", "terms"))]
    if isinstance(glossary, Mapping):
        checked = {_text(term, "glossary"): _text(glossary[term], f"glossary[{term!r}]") for term in glossary}
        return read_glossary(checked, terms)
    if not isinstance(glossary, (str, Path, type(None))):
        found = type(glossary).__name__
        raise BadInput(f"glossary: expected a file, or target terms by source term, found a {found}")
    return read_glossary(glossary, terms)


def _text(given: Any, place: str) -> str:
    """Refuse what could not be written to a file of text."""
    if not isinstance(given, str):
        raise BadInput(f"{place}: expected a text, found a {type(given).__name__}")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{place}: expected text, found half a character (a lone surrogate)") from None
    if "\0" in given:
        raise BadInput(f"{place}: expected text, found a NUL character")
    return given


def _sentence(given: Any, place: str) -> str:
    text = _text(given, place).strip()
    if "\n" in text:
        raise BadInput(f"{place}: expected one sentence on one line, found several lines")
    return text


def _fields(given: Any, place: str) -> Dict[str, str]:
    """One sentence's metadata; texts without a field are prompts, as in ``ctxmt translate --metadata``."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        if not all(isinstance(field, str) for field in given):
            raise BadInput(f"{place}: expected a dictionary of texts by field, found other fields")
        texts = texts_by_field(dict(given), lambda message: BadInput(f"{place}: {message}"))
        return {field: _text(text, f"{place}[{field!r}]") for field, text in texts.items()}
    plain = [given] if isinstance(given, str) else entries(given, place, "texts")
    return prompts(_text(text, place) for text in plain)
