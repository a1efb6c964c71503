"""Words that a document translates as it has done before, in any language (MuDA's lexical cohesion)."""

from typing import Dict, Iterator, List, Tuple

from ctxmt_fairseq.corpora.phenomena.lines import Hit, Line
from ctxmt_fairseq.text.annotation import AnnotatedWord

SEEN = 3  # lines before that translate a word alike (MuDA: more than 2 times)
_CONTENT = ("NOUN", "PROPN", "VERB", "ADJ")
_LONG = 4  # letters of a word that means something, where no part of speech is known


class Cohesion:
    """Counts what words were translated by in a document."""

    def __init__(self) -> None:
        self._seen: Dict[Tuple[str, str], List[int]] = {}  # lines, and the last of them
        self._number = 0

    def hits(self, line: Line) -> Iterator[Hit]:
        """Words of the next line that translate what they did in at least ``SEEN`` lines before."""
        now: Dict[Tuple[str, str], None] = {}
        for at, word in enumerate(line.target):
            pairs = [(_name(each), _name(word)) for each in line.sources(at) if _means(each) and _means(word)]
            now.update(dict.fromkeys(pairs))
            before = [self._seen[pair] for pair in pairs if pair in self._seen]
            lasts = [last for count, last in before if count >= SEEN]
            if lasts:
                yield Hit("cohesion", at, self._number - max(lasts))
        for pair in now:
            self._seen[pair] = [self._seen.get(pair, (0,))[0] + 1, self._number]
        self._number += 1


def _name(word: AnnotatedWord) -> str:
    return (word.lemma or word.text).lower()


def _means(word: AnnotatedWord) -> bool:
    return word.pos in _CONTENT if word.pos else word.text.isalpha() and len(word.text) >= _LONG
