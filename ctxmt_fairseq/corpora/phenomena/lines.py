"""A sentence pair with what is known of its words, and a word of it that context decides."""

import bisect
from collections import defaultdict
from dataclasses import dataclass
from typing import DefaultDict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ctxmt_fairseq.corpora.linguistics.words import word_spans
from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.word_tags import Tags

Words = Sequence[AnnotatedWord]
Links = Iterable[Tuple[int, int]]  # white-space words of source and target that translate each other


class Hit(NamedTuple):
    """The number of a word of the target that context decides. The nearest word that does stands ``distance``
    lines back (None: it was not found); with another context ``others`` would be right, unless
    another word of the line may show which is (then there are none)."""

    tag: str
    word: int
    distance: Optional[int]
    others: Sequence[str] = ()


@dataclass(frozen=True)
class Line:
    """The words of a pair, the text of its target, and what each word of the target translates."""

    text: str
    source: Words
    target: Words
    links: Mapping[int, Set[int]]
    pair: Pair

    def sources(self, word: int) -> List[AnnotatedWord]:
        """What a word of the target translates, in order."""
        return [self.source[each] for each in sorted(self.links.get(word, ()))]

    def parts(self, hits: Sequence[Hit]) -> Tuple[List[str], Tags]:
        """The words of the target with their tags, and whatever its annotation has left out."""
        parts: List[Tuple[str, Tuple[str, ...]]] = []
        end = 0
        for at, word in enumerate(self.target):
            tags = tuple(hit.tag for hit in hits if hit.word == at)
            parts += [(self.text[end : word.start].strip(), ()), (word.text, tags)]
            end = word.end
        parts.append((self.text[end:].strip(), ()))
        return [text for text, _ in parts if text], [tags for text, tags in parts if text]


def linked(pair: Pair, texts: Tuple[str, str], words: Tuple[Words, Words], aligned: Links) -> Line:
    """Put together a pair, its texts without blanks at their ends, their words, and which white-space words
    translate each other."""
    found: Tuple[DefaultDict[int, List[int]], ...] = (defaultdict(list), defaultdict(list))
    for text, its, numbers in zip(texts, words, found, strict=True):
        starts = [start for start, _ in word_spans(text)]
        for at, word in enumerate(its):  # belongs to the white-space word in which it begins
            numbers[bisect.bisect(starts, word.start) - 1].append(at)
    links: DefaultDict[int, Set[int]] = defaultdict(set)
    for i, j in aligned:
        for at in found[1][j]:
            links[at].update(found[0][i])
    return Line(texts[1], *words, links, pair)


def clause(words: Words, at: int) -> range:
    """The words around one of them, up to the next punctuation on either side."""
    start, end = at, at + 1
    while start and words[start - 1].pos != "PUNCT":
        start -= 1
    while end < len(words) and words[end].pos != "PUNCT":
        end += 1
    return range(start, end)
