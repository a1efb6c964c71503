"""Finds the source words that recur in a document, so that their translations may be alike or not."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Counter, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np
import regex

from ctxmt_fairseq.corpora.linguistics.words import bare, word_spans
from ctxmt_fairseq.text.annotation import AnnotatedWord, is_noun
from ctxmt_fairseq.text.documents import Documents

_TERM = regex.compile(r"[\p{L}\p{M}]+(?:[-'’][\p{L}\p{M}]+)*")
_RARE = 2  # documents; a word in so few is never common, however small the text is


@dataclass(frozen=True)
class Term:
    """A word in sentences of a document (from 0): line of the text, ascending -> words of the line."""

    document: int
    text: str
    places: Dict[int, List[int]]


def recurring_terms(
    sentences: Sequence[str],
    documents: Documents,
    current: Optional[np.ndarray] = None,
    annotation: Optional[Sequence[Sequence[AnnotatedWord]]] = None,
    least_sentences: int = 2,
    least_characters: int = 3,
    common: float = 0.2,
) -> List[Term]:
    """The terms of every document, in the order of their first places: words in so many sentences of it, of
    so many characters, and not common, which is in more than this share of the documents (and in more than
    two). A term consists of letters with hyphens and apostrophes between them, so that numbers and web
    addresses are none. It is a white-space word in lower case without the punctuation around it; in annotated
    text it is the lemma of a noun, or its text if no lemma is known. Lines that are not ``current`` serve as
    context only, and do not count."""
    found: Dict[Tuple[int, str], Dict[int, List[int]]] = {}
    within: Counter[str] = Counter()  # in how many documents each word is
    for document, (start, end) in enumerate(zip(documents.starts[:-1], documents.starts[1:], strict=True)):
        seen = set()
        for line in range(start, end):
            if current is not None and not current[line]:
                continue
            words: Iterable[Tuple[int, str]] = enumerate(map(bare, sentences[line].split()))
            if annotation is not None:
                words = _nouns(sentences[line], annotation[line])
            for place, word in words:
                if len(word) >= least_characters and _TERM.fullmatch(word):
                    seen.add(word)
                    found.setdefault((document, word), {}).setdefault(line, []).append(place)
        within.update(seen)
    most = max(_RARE, common * len(documents))
    return [
        Term(document, word, places)
        for (document, word), places in found.items()
        if within[word] <= most and len(places) >= least_sentences
    ]


def _nouns(sentence: str, annotated: Sequence[AnnotatedWord]) -> List[Tuple[int, str]]:
    """Each noun with the first white-space word that has a part of it."""
    ends = [end for _, end in word_spans(sentence)]
    nouns = filter(is_noun, annotated)
    return [(bisect_right(ends, noun.start), bare(noun.lemma or noun.text)) for noun in nouns]
