"""Learns the genders of nouns from the determiners before them, in a language without a tool that knows them.

A determiner of several genders counts in parts: "die" says a third of what "einen" says. A compound has the
gender of its longest ending that is a known noun, as in German the last part of a compound decides.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any, DefaultDict, Iterable, List, Mapping, Optional, Sequence

from ctxmt_fairseq.corpora.linguistics.words import bare
from ctxmt_fairseq.text.annotation import AnnotatedWord, is_noun

_REACH = 3  # words behind a determiner, such as adjectives, among which its noun stands
_LEAST = 4  # letters of an ending
_MARGIN = 0.6  # of all that determiners say, in favour of one gender


class Genders:
    """Learns from lines the genders of nouns, which begin with a capital; given the determiners by gender."""

    def __init__(self, determiners: Mapping[str, str], lines: Iterable[str]):
        words = " ".join(determiners.values()).split()
        genders = {word: [name for name, its in determiners.items() if word in its.split()] for word in words}
        self._seen: DefaultDict[str, Any] = defaultdict(Counter)
        for line in map(str.split, lines) if determiners else ():
            for at, word in enumerate(line):
                found = genders.get(word.lower(), ())
                noun = next((each for each in line[at + 1 : at + 1 + _REACH] if each[:1].isupper()), "")
                for gender in found if noun else ():
                    self._seen[bare(noun)][gender] += 1 / len(found)

    def filled_in(self, words: Sequence[AnnotatedWord]) -> List[AnnotatedWord]:
        """The words, of which the nouns without a gender have got one."""
        return [replace(w, gender=self.of(w)) if is_noun(w) and not w.gender else w for w in words]

    def of(self, noun: AnnotatedWord) -> Optional[str]:
        """The gender of a noun, by its lemma, its form, or its ending; None: not known."""
        for name in ((noun.lemma or "").lower(), noun.text.lower()) if self._seen else ():
            for start in range(max(1, len(name) - _LEAST + 1)):
                votes = self._seen.get(name[start:], Counter())
                for gender, most in votes.most_common(1):
                    if most >= _MARGIN * votes.total():
                        return gender
        return None
