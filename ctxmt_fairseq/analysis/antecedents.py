"""Does attention find what a pronoun refers to? (Voita et al. 2018, section 5.3.2, tables 6 to 9.)

Attention is right if the token of the source context with the highest weight, without ``<bos>``, ``</s>`` and
punctuation, lies in the antecedent. For a pronoun of several subwords their mean weight counts. Target
context does not count, because antecedents are known in the source. For comparison, the first, the last and a
random noun of the source context are taken as the antecedent.
"""

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.text_attention import AttendedSentence, ContextSentence
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.coreference import Reference

HEURISTICS = ("random", "first", "last")
WORDS = {True: "right", False: "wrong"}


@dataclass(frozen=True)
class Judged:
    """A pronoun, and who finds its antecedent.

    Attributes:
        nouns: how many nouns the context has; None: not known.
        shares: for each of ``HEURISTICS`` how often it is right: 0 or 1, and for a random noun a share.
        others: for each other source that knows the pronoun, whether its antecedent overlaps the true one.
    """

    reference: Reference
    attention: bool
    nouns: Optional[int]
    shares: Dict[str, float]
    others: Dict[str, bool]


@dataclass
class Agreement:
    """The pronouns that count, and how many others do not, by the reason."""

    judged: List[Judged] = field(default_factory=list)
    left_out: Counter = field(default_factory=Counter)

    @property
    def groups(self) -> Dict[Tuple[str, bool], List[Judged]]:
        """(pronoun, whether the context must have several nouns) -> its cases; ``all`` has all pronouns."""
        found: Dict[Tuple[str, bool], List[Judged]] = {}
        for several in (False, True):
            chosen = [one for one in self.judged if not several or (one.nouns or 0) > 1]
            found["all", several] = chosen
            for name, _ in Counter(one.reference.text for one in self.judged).most_common():
                found[name, several] = [one for one in chosen if one.reference.text == name]
        return {key: group for key, group in found.items() if group}

    def records(self) -> List[Dict[str, Any]]:
        """A record for each group, with agreement in %."""
        return [
            {"pronoun": name, "more_than_one_noun": several, "n": len(group), **_shares(group)}
            for (name, several), group in self.groups.items()
        ]

    def confusions(self) -> List[Dict[str, Any]]:
        """Table 9, for each other source and the groups of ``records``: how often attention and this source
        are right and wrong, in % of the pronouns that both judge."""
        found = []
        for (name, several), group in self.groups.items():
            for source in dict.fromkeys(other for one in group for other in one.others):
                pairs = [(one.attention, one.others[source]) for one in group if source in one.others]
                shares = {
                    f"attention_{WORDS[own]}_{WORDS[other]}": 100 * pairs.count((own, other)) / len(pairs)
                    for own, other in itertools.product(WORDS, WORDS)
                }
                head = {"pronoun": name, "more_than_one_noun": several, "source": source}
                found.append({**head, "n": len(pairs), **shares})
        return found

    def table(self) -> str:
        """Tables 6 to 9."""
        records = self.records()
        columns = [name for name in (*HEURISTICS, "attention") if any(name in row for row in records)]
        rows = [["agreement in %", "n", *columns]]
        for row in records:
            cells = [f"{row[column]:.1f}" if column in row else "-" for column in columns]
            rows.append([_named(row), str(row["n"]), *cells])
        parts = [aligned_table(rows)]
        for row in self.confusions():
            rows = [[f"{_named(row)}, {row['n']}, in %", f"{row['source']} right", f"{row['source']} wrong"]]
            for each in WORDS.values():
                cells = [f"{row[f'attention_{each}_{other}']:.1f}" for other in WORDS.values()]
                rows.append([f"attention {each}", *cells])
            parts.append(aligned_table(rows))
        if self.left_out:
            parts.append("left out: " + ", ".join(f"{count} {why}" for why, count in self.left_out.items()))
        return "\n\n".join(parts)


def agreement(
    sentences: Iterable[AttendedSentence],
    references: Sequence[Reference],
    truth: str,
    nouns: Optional[Sequence[Sequence[AnnotatedWord]]] = None,
) -> Agreement:
    """Compare attention with the antecedents that one source, ``truth``, found. If the nouns of every line
    are known, an antecedent must have exactly one noun, as in the paper."""
    by_line = grouped((one.line, one) for one in references if one.source == truth)
    others = grouped(((one.line, one.span), one) for one in references if one.source != truth)
    found = Agreement()
    attended = set()
    for sentence in sentences:
        attended.add(sentence.line)
        for reference in by_line.get(sentence.line, ()):
            known = others.get((reference.line, reference.span), ())
            judged = _judge(sentence, reference, known, nouns)
            if isinstance(judged, Judged):
                found.judged.append(judged)
            else:
                found.left_out[judged] += 1
    missed = sum(len(group) for line, group in by_line.items() if line not in attended)
    if missed:
        found.left_out["in sentences without context"] += missed
    return found


def _judge(
    sentence: AttendedSentence,
    reference: Reference,
    others: Sequence[Reference],
    nouns: Optional[Sequence[Sequence[AnnotatedWord]]],
) -> Any:
    """A ``Judged``, or the reason why the pronoun does not count."""
    antecedent = reference.antecedent
    context = {part.line: part for part in sentence.context if not part.target}
    if antecedent is None:
        return "without antecedent"
    if not antecedent.nominal:
        return "with a pronoun as antecedent"
    if antecedent.line not in context:
        return "with an antecedent that the model does not read"
    asking = sentence.words.within(reference.span)
    if not asking.any() or not context[antecedent.line].words.within(antecedent.span).any():
        return "that the subword model writes in another form"
    there = [(line, noun) for line in sorted(context) for noun in nouns[line]] if nouns is not None else []
    inside = [antecedent.overlaps(line, (noun.start, noun.end)) for line, noun in there]
    if nouns is not None and sum(inside) != 1:
        return "without exactly one noun in the antecedent"
    shares = {}
    if inside:
        shares = {"random": sum(inside) / len(inside), "first": float(inside[0]), "last": float(inside[-1])}
    right = {
        other.source: other.antecedent is not None
        and antecedent.overlaps(other.antecedent.line, other.antecedent.span)
        for other in others
    }
    strongest = _strongest(sentence, asking)
    if strongest is None:
        return "without a word in the context"
    part, word = strongest
    attention = part.line == antecedent.line and bool(part.words.within(antecedent.span)[word])
    return Judged(reference, attention, len(there) if nouns is not None else None, shares, right)


def _strongest(sentence: AttendedSentence, asking: np.ndarray) -> Optional[Tuple[ContextSentence, int]]:
    """The word with the first subword of the source context that has the highest weight, behind its
    sentence."""
    best, found = -1.0, None
    for part in sentence.context:
        if part.target or not part.words.lexical.any():
            continue
        weights = np.where(part.words.lexical, part.weights[asking].mean(0), -1)
        if weights.max() > best:
            best, found = float(weights.max()), (part, int(part.words.place[weights.argmax()]))
    return found


def _shares(group: Sequence[Judged]) -> Dict[str, float]:
    """Agreement in %; heuristics count only where the nouns are known."""
    known = [one.shares for one in group if one.shares]
    shares = {name: [each[name] for each in known] for name in HEURISTICS if known}
    shares["attention"] = [one.attention for one in group]
    return {name: 100 * float(np.mean(each)) for name, each in shares.items()}


def _named(row: Dict[str, Any]) -> str:
    return row["pronoun"] + (", more than one noun" if row["more_than_one_noun"] else "")
