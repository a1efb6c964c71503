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
    """The genders of nouns, which begin with a capital.

    Args:
        determiners: the genders of the nouns behind each.
        lines: text to learn from.
    """

    def __init__(self, determiners: Mapping[str, List[str]], lines: Iterable[str]):
        self._seen: DefaultDict[str, Any] = defaultdict(Counter)
        for words in map(str.split, lines) if determiners else ():
            for at, word in enumerate(words):
                genders = determiners.get(word.lower(), ())
                noun = next((each for each in words[at + 1 : at + 1 + _REACH] if each[:1].isupper()), "")
                for gender in genders if noun else ():
                    self._seen[bare(noun)][gender] += 1 / len(genders)

    def filled_in(self, words: Sequence[AnnotatedWord]) -> List[AnnotatedWord]:
        """The words, of which the nouns without a gender have got one."""
        if not self._seen:
            return list(words)
        lacking = (is_noun(word) and not word.gender for word in words)
        pairs = zip(words, lacking, strict=True)
        return [replace(word, gender=self.of(word)) if lacks else word for word, lacks in pairs]

    def of(self, noun: AnnotatedWord) -> Optional[str]:
        """The gender of a noun, by its lemma, its form, or its ending; None: not known."""
        for name in ((noun.lemma or "").lower(), noun.text.lower()):
            for start in range(max(1, len(name) - _LEAST + 1)):
                gender = self._clear(name[start:])
                if gender:
                    return gender
        return None

    def _clear(self, name: str) -> Optional[str]:
        votes = self._seen.get(name)
        if not votes:
            return None
        (gender, most), *_ = votes.most_common(1)
        return gender if most >= _MARGIN * votes.total() else None
