"""A sentence pair with what is known of its words, and a word of it that context decides."""

import bisect
from dataclasses import dataclass
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ctxmt_fairseq.corpora.linguistics.words import word_spans
from ctxmt_fairseq.text.annotation import AnnotatedWord

Words = Sequence[AnnotatedWord]


@dataclass(frozen=True)
class Line:
    """A sentence pair.

    Attributes:
        text: the target, without blanks at its ends.
        source, target: the words of either side.
        links: for each word of the target the words of the source that it translates.
    """

    text: str
    source: Words
    target: Words
    links: Mapping[int, Set[int]]

    def sources(self, word: int) -> List[AnnotatedWord]:
        """What a word of the target translates, in order."""
        return [self.source[each] for each in sorted(self.links.get(word, ()))]


class Hit(NamedTuple):
    """A word of the target that context decides.

    Attributes:
        word: its number.
        distance: how many lines back the nearest word stands that decides it; None: it was not found.
        others: forms that would be right with another context.
    """

    tag: str
    word: int
    distance: Optional[int]
    others: Sequence[str] = ()


def linked(texts: Tuple[str, str], words: Tuple[Words, Words], pairs: Iterable[Tuple[int, int]]) -> Line:
    """Put together what is known of a line.

    Args:
        texts, words: of source and target; texts without blanks at their ends.
        pairs: which white-space words of them translate each other.
    """
    sources, targets = map(_by_word, texts, words)
    links: Dict[int, Set[int]] = {}
    for i, j in pairs:
        for word in targets.get(j, ()):
            links.setdefault(word, set()).update(sources.get(i, ()))
    return Line(texts[1], *words, links)


def _by_word(text: str, words: Words) -> Dict[int, List[int]]:
    """For each white-space word of a text the annotated words that begin in it."""
    starts = [start for start, _ in word_spans(text)]
    found: Dict[int, List[int]] = {}
    for at, word in enumerate(words):
        found.setdefault(bisect.bisect(starts, word.start) - 1, []).append(at)
    return found


def clause(words: Words, at: int) -> range:
    """The words around one of them, up to the next punctuation on either side."""
    stops = [-1, *(place for place, word in enumerate(words) if word.pos == "PUNCT"), len(words)]
    behind = bisect.bisect_right(stops, at)
    return range(stops[behind - 1] + 1, stops[behind] if behind < len(stops) else at + 1)
