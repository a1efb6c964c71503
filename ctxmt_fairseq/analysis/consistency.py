"""Are the terms of a document translated alike everywhere?

The translation of a term in a sentence is the set of target words to which it is aligned there; words with
hyphens and apostrophes are split into their parts. Two sentences translate it alike if these sets share a
word: the sets are seldom equal, because alignments often add an article or half of a verb. Words are compared
by their first letters, because they are inflected. What a sentence repeats counts once, because no model
needs context for it.

If k sentences translate a term, ``alike`` is the share of their k(k-1)/2 pairs that translate it alike. This
is the lexical translation consistency ratio (LTCR) of Lyu et al. (2021, "Encouraging lexical translation
consistency for document-level neural machine translation"), who count pairs of equal translations. ``main``
is the share of the k sentences with its most frequent translation.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.recurring_terms import Term
from ctxmt_fairseq.corpora.linguistics.words import bare, lexical_parts
from ctxmt_fairseq.evaluation.significance.resampling import total_score
from ctxmt_fairseq.evaluation.significance.systems import Comparison, Tested, compare_systems

_SHORT = 2  # letters; parts such as French l' and d' would make many words alike
Links = Sequence[Mapping[int, Sequence[int]]]  # for every line: source word -> target words


class Counts(NamedTuple):
    """What a document adds to sums over documents, from which the measures are computed.

    Attributes:
        pairs, pairs_alike: pairs of sentences with the same term, and those that translate it alike.
        sentences, sentences_main: those with a translation of a term, and those with its most frequent one.
        terms: a term in two documents counts twice; ``alike`` and ``main`` are sums of the terms' shares.
        single: terms with the same translation in all sentences.
    """

    pairs: float
    pairs_alike: float
    sentences: float
    sentences_main: float
    terms: float
    alike: float
    main: float
    single: float


# Name -> numerator and denominator. "by_term" gives all terms the same weight, whatever their pairs are.
MEASURES: Dict[str, Tuple[str, str]] = {
    "alike": ("pairs_alike", "pairs"),
    "alike_by_term": ("alike", "terms"),
    "main": ("sentences_main", "sentences"),
    "main_by_term": ("main", "terms"),
    "single": ("single", "terms"),
}


@dataclass(frozen=True)
class Translated:
    """The translations of a term by a system.

    Attributes:
        words: for each sentence with a translation, the target words aligned to the term, in lower case.
        unaligned: how many sentences have no translation of the term.
        prefix: how many letters of a word are compared; 0: all.
    """

    words: List[List[str]]
    unaligned: int
    prefix: int

    def key(self, word: str) -> str:
        """The part of a word that is compared."""
        return word[: self.prefix] if self.prefix else word

    def masks(self) -> Dict[str, int]:
        """Part of a word that is compared -> the sentences that have it, as bits."""
        masks: Dict[str, int] = {}
        for number, words in enumerate(self.words):
            for word in words:
                masks[self.key(word)] = masks.get(self.key(word), 0) | 1 << number
        return masks

    @cached_property
    def counts(self) -> Counts:
        """The counts of a term with translations in at least two sentences."""
        masks, size = self.masks(), len(self.words)
        alike = 0
        for words in self.words:
            others = 0
            for word in words:
                others |= masks[self.key(word)]
            alike += others.bit_count() - 1  # the sentences that share a word with it, without itself
        most = max(mask.bit_count() for mask in masks.values())
        pairs = size * (size - 1) // 2
        share = alike / 2 / pairs
        return Counts(pairs, alike / 2, size, most, 1, share, most / size, most == size)


@dataclass(frozen=True)
class Consistency:
    """Systems compared on the terms that every system translates in at least two sentences.

    Attributes:
        translated: for each system a ``Translated`` for each term.
        left_out: how many terms some system translates in fewer than two sentences.
        aligned_too_little: for each system how many of these it is to blame for.
    """

    names: List[str]
    terms: List[Term]
    translated: List[List[Translated]]
    left_out: int
    aligned_too_little: Dict[str, int]

    def statistics(self) -> List[np.ndarray]:
        """For each system (D, len(Counts._fields)): a row for each document that has terms."""
        documents = [term.document for term in self.terms]
        starts = np.flatnonzero(np.diff(documents, prepend=-1))
        return [
            np.add.reduceat(np.array([each.counts for each in system], dtype=np.float64), starts)
            for system in self.translated
        ]

    def records(self) -> List[Dict[str, Any]]:
        """For every system its measures in %, and how many sentences with a term translate it or do not."""
        return [
            {
                "system": name,
                "sentences": sum(len(each.words) for each in system),
                "unaligned": sum(each.unaligned for each in system),
                **{measure: total_score(rows, partial(_score, measure)) for measure in MEASURES},
            }
            for name, system, rows in zip(self.names, self.translated, self.statistics(), strict=True)
        ]

    def compared(
        self, systems: Sequence[str], samples: int, seed: int, all_pairs: bool = False
    ) -> List[Comparison]:
        """Tests of systems (one for each run, from the first) against the first, in which documents are
        drawn: a comparison for each measure and pair; none for a single system or document."""
        rows = self.statistics()[: len(systems)]
        if len(set(systems)) < 2 or len(rows[0]) < 2:
            return []
        tested = [Tested(measure, "document", rows, partial(_score, measure)) for measure in MEASURES]
        return compare_systems(systems, tested, samples, seed, all_pairs)


def _score(measure: str, sums: np.ndarray) -> np.ndarray:
    """A measure in %, (R,), from sums of counts, (R, len(Counts._fields))."""
    part, whole = (sums[:, Counts._fields.index(name)] for name in MEASURES[measure])
    return 100 * part / whole


def consistency(
    names: Sequence[str],
    terms: Sequence[Term],
    targets: Sequence[Sequence[str]],
    links: Sequence[Links],
    prefix: int,
) -> Consistency:
    """Collect the translations of terms, by document, by S systems with their lines and alignments."""
    found = []
    for lines, aligned in zip(targets, links, strict=True):
        words = [line.split() for line in lines]
        found.append([_translated(term, words, aligned, prefix) for term in terms])
    enough = [all(len(each.words) > 1 for each in row) for row in zip(*found, strict=True)]
    return Consistency(
        list(names),
        [term for term, kept in zip(terms, enough, strict=True) if kept],
        [[each for each, kept in zip(system, enough, strict=True) if kept] for system in found],
        enough.count(False),
        {name: sum(len(one.words) < 2 for one in each) for name, each in zip(names, found, strict=True)},
    )


def _translated(term: Term, targets: Sequence[Sequence[str]], links: Links, prefix: int) -> Translated:
    translations = []
    for line, places in term.places.items():
        aligned = sorted({j for place in places for j in links[line].get(place, ())})
        translations.append([form for j in aligned for form in forms_of(targets[line][j])])
    present = [words for words in translations if words]
    return Translated(present, len(translations) - len(present), prefix)


def forms_of(word: str) -> List[str]:
    """The forms by which a word is compared, in lower case: its parts of at least three letters, or else the
    whole word; none if it has no letter or digit."""
    whole = bare(word)
    if not any(map(str.isalnum, whole)):
        return []
    return [part for part in map(bare, lexical_parts(whole)) if len(part) > _SHORT] or [whole]
