"""Words of the source that recur in a document: those whose translations may be alike or not."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Counter, Dict, List, Optional, Sequence, Tuple

import numpy as np
import regex

from ctxmt_fairseq.corpora.linguistics.words import bare, word_spans
from ctxmt_fairseq.data.annotation import AnnotatedWord, is_noun
from ctxmt_fairseq.data.documents import Documents

_TERM = regex.compile(r"[\p{L}\p{M}]+(?:[-'’][\p{L}\p{M}]+)*")
_RARE = 2  # documents; a word of so few is common in no text, however small


@dataclass(frozen=True)
class Term:
    """A word that stands in several sentences of a document.

    Attributes:
        document: its number, from 0.
        places: line of the text (from 0, ascending) -> white-space words that are the term there.
    """

    document: int
    text: str
    places: Dict[int, List[int]]


@dataclass(frozen=True)
class TermRules:
    """Which words are terms.

    Attributes:
        least_sentences: of a document, in which a term stands.
        least_characters: of a term.
        common: a word of more than this share of the documents (and of more than two) is common and no term.
    """

    least_sentences: int = 2
    least_characters: int = 3
    common: float = 0.2


def recurring_terms(
    sentences: Sequence[str],
    documents: Documents,
    rules: TermRules,
    current: Optional[np.ndarray] = None,
    annotation: Optional[Sequence[Sequence[AnnotatedWord]]] = None,
) -> List[Term]:
    """The terms of every document, by their first places.

    A term consists of letters, with hyphens and apostrophes between them: numbers, addresses of pages and the
    like are none. It is a white-space word in lower case without the punctuation around it, or of annotated
    text a noun's lemma (its text where no lemma is known).

    Args:
        sentences: N lines of the source.
        current: (N,) bool; lines marked False are only context: nothing counts there.
        annotation: of every line.
    """
    found: Dict[Tuple[int, str], Dict[int, List[int]]] = {}
    within: Counter[str] = Counter()  # documents of each word
    for document, (start, end) in enumerate(zip(documents.starts[:-1], documents.starts[1:], strict=True)):
        seen = set()
        for line in range(start, end):
            if current is not None and not current[line]:
                continue
            words = (
                _words(sentences[line]) if annotation is None else _nouns(sentences[line], annotation[line])
            )
            for place, word in words:
                if len(word) >= rules.least_characters and _TERM.fullmatch(word):
                    seen.add(word)
                    found.setdefault((document, word), {}).setdefault(line, []).append(place)
        within.update(seen)
    most = max(_RARE, rules.common * len(documents))
    return [
        Term(document, word, places)
        for (document, word), places in found.items()
        if within[word] <= most and len(places) >= rules.least_sentences
    ]


def _words(sentence: str) -> List[Tuple[int, str]]:
    return [(place, bare(word)) for place, word in enumerate(sentence.split())]


def _nouns(sentence: str, annotated: Sequence[AnnotatedWord]) -> List[Tuple[int, str]]:
    """Each noun with the first of the white-space words that it stands in."""
    ends = [end for _, end in word_spans(sentence)]
    return [
        (bisect_right(ends, word.start), bare(word.lemma or word.text)) for word in annotated if is_noun(word)
    ]
