"""Compares systems on the sentences whose pronouns refer to earlier sentences (Voita et al. 2018, section
5.3.1, tables 3 to 5)."""

import statistics
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Sequence

from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.corpora.linguistics.words import word_spans
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.measures import Measure
from ctxmt_fairseq.evaluation.significance.p_values import stars
from ctxmt_fairseq.evaluation.significance.resampling import total_score
from ctxmt_fairseq.evaluation.significance.seeds import runs_of
from ctxmt_fairseq.evaluation.significance.systems import Comparison, Tested, compare_systems
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.coreference import Reference, overlap

PLURAL = ("plur", "pl", "plural", "ptan")
GENDERS = {"masc": "masculine", "fem": "feminine", "neut": "neuter"}


@dataclass(frozen=True)
class Subset:
    """The lines of a subset, from 0 and ascending, and the number of pronouns for which they are in it;
    ``pronominal`` of these have a pronoun as antecedent. Once they are compared, systems' mean scores over
    runs, and differences from the first, if there are two lines."""

    name: str
    lines: List[int]
    pronouns: int
    pronominal: int
    scores: Sequence[float] = ()
    comparisons: Sequence[Comparison] = ()


def pronoun_subsets(references: Sequence[Reference], kinds: Sequence[Optional[str]] = ()) -> List[Subset]:
    """For each pronoun the lines in which it has an antecedent in an earlier line: all; those with a nominal
    antecedent; and of these those of each kind (``translated_as``), if it is known."""
    groups: Dict[str, List[Reference]] = {}
    for reference, kind in zip(references, kinds or [None] * len(references), strict=True):
        antecedent = reference.antecedent
        if antecedent is None or antecedent.line >= reference.line:
            continue
        groups.setdefault(reference.text, []).append(reference)
        if antecedent.nominal:
            groups.setdefault(f"{reference.text}, nominal", []).append(reference)
            if kind is not None:
                groups.setdefault(f"{reference.text}, nominal, {kind}", []).append(reference)
    return [
        Subset(name, sorted({one.line for one in group}), len(group),
               sum(not one.antecedent.nominal for one in group if one.antecedent))
        for name, group in sorted(groups.items())
    ]  # fmt: skip


def translated_as(
    reference: Reference,
    source: str,
    target: str,
    pairs: Dict[int, List[int]],
    annotated: Sequence[AnnotatedWord],
) -> Optional[str]:
    """The gender of a pronoun's translation in the reference, or plural; None: not aligned in its line's
    pairs, or not annotated in the target. If several words are aligned, the first pronoun counts, or else the
    first word with a gender or a number."""
    asked = [at for at, span in enumerate(word_spans(source)) if overlap(span, reference.span)]
    spans = word_spans(target)
    aligned = [spans[j] for i in asked for j in pairs.get(i, ())]
    found = [word for span in aligned for word in annotated if overlap(span, (word.start, word.end))]
    known = [(word.pos != "PRON", _kind(word)) for word in found]
    return next((kind for _, kind in sorted(known, key=lambda row: row[0]) if kind), None)


def _kind(word: AnnotatedWord) -> Optional[str]:
    if (word.number or "").lower() in PLURAL:
        return "plural"
    return GENDERS.get((word.gender or "").lower()[:4].rstrip("i"))


def compare_subsets(
    names: Sequence[str],
    translations: Sequence[Translation],
    subsets: Sequence[Subset],
    measure: Measure,
    samples: int,
    seed: int,
) -> List[Subset]:
    """Score systems (a name and a translation for each run) on every subset, and test them as
    ``compare_translations`` does by sentences."""
    rows = [measure.rows(number, each) for number, each in enumerate(translations)]
    systems = runs_of(names)
    found = []
    for subset in subsets:
        chosen = [each[subset.lines] for each in rows]
        each_run = [total_score(each, measure.scores) for each in chosen]
        scores = [statistics.fmean(each_run[run] for run in runs) for runs in systems.values()]
        comparisons: Sequence[Comparison] = ()
        if len(systems) > 1 and len(subset.lines) > 1:
            tested = Tested(measure.name, "sentence", chosen, measure.scores, measure.digits)
            comparisons = compare_systems(names, [tested], samples, seed)
        found.append(replace(subset, scores=scores, comparisons=comparisons))
    return found


def subsets_table(names: Sequence[str], found: Sequence[Subset]) -> str:
    """Tables 3 to 5: a row for each subset, with the differences from the first system and their stars."""
    later = [f"{name} - {names[0]}" for name in names[1:]]
    rows = [["pronoun, antecedent", "sentences", "pronouns", "pronominal", *names, *later]]
    for each in found:
        counts = (len(each.lines), each.pronouns, each.pronominal)
        differences = [f"{row.result.difference:+.2f}{stars(row.p_holm)}" for row in each.comparisons]
        rows.append([each.name, *map(str, counts), *(f"{score:.2f}" for score in each.scores),
                     *(differences or ["-"] * len(later))])  # fmt: skip
    return aligned_table(rows)


def subset_records(names: Sequence[str], found: Sequence[Subset]) -> List[Dict[str, Any]]:
    return [
        {
            "subset": each.name,
            "sentences": len(each.lines),
            "pronouns": each.pronouns,
            "pronominal_antecedents": each.pronominal,
            "scores": dict(zip(names, each.scores, strict=True)),
            "comparisons": [row.as_dict() for row in each.comparisons],
        }
        for each in found
    ]
