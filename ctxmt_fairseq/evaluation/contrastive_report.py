"""Turns the scores of a contrastive set's candidates into accuracies. Pure functions, no torch.

The candidate with the best score under a ``Convention`` is chosen. If several share it, none is: a tie counts
as wrong, and is reported. Appendix B of "Focused Concatenation for Context-Aware Neural Machine Translation"
(Lupo et al. 2022) defines Disc., Disc_avg and Disc_all-d.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Mapping, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.evaluation.contrastive_sets import (
    CONVENTIONS,
    FORMATS,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
)
from ctxmt_fairseq.evaluation.contrastive_sets.formats import DISC_NAMES, distance_name, phenomenon_name

SAME_SENTENCE = "0"  # the distance group that needs no context
Tally = Dict[str, Any]  # examples, correct, accuracy, ties, tie_share; shares in percent


@dataclass(frozen=True)
class CandidateScore:
    """The sum of a candidate's token log-probabilities, and the number of tokens: for the current sentence
    with its ``</s>``, and for the whole target window."""

    current_sum: float
    current_tokens: int
    window_sum: float
    window_tokens: int

    def value(self, convention: Convention) -> float:
        """The score that is compared; higher is better."""
        total, tokens = (getattr(self, f"{convention.span}_{what}") for what in ("sum", "tokens"))
        return total / tokens if convention.reduction == "mean" else total


class Choice(NamedTuple):
    """The candidate with the best score; ``chosen`` is None for a tie."""

    chosen: Optional[int]
    correct: bool

    @property
    def tie(self) -> bool:
        return self.chosen is None


def choose(scores: Sequence[CandidateScore], correct: int, convention: Convention) -> Choice:
    """Choose among the candidates of one example."""
    values = [score.value(convention) for score in scores]
    if any(map(math.isnan, values)):
        raise BadInput("a candidate's score is not a number")
    best = [index for index, value in enumerate(values) if value == max(values)]
    return Choice(best[0] if len(best) == 1 else None, best == [correct])


def tally(choices: Sequence[Choice]) -> Tally:
    """How many choices are right, and how many are ties; for JSON."""
    count, correct, ties = len(choices), sum(one.correct for one in choices), sum(one.tie for one in choices)
    return {"examples": count, "correct": correct, "accuracy": 100 * correct / count, "ties": ties,
            "tie_share": 100 * ties / count}  # fmt: skip


def tally_groups(names: Iterable[Optional[str]], choices: Sequence[Choice]) -> Dict[str, Tally]:
    """A tally for each group. ``names`` has the group of each choice; None leaves the choice out."""
    named = ((name, choice) for name, choice in zip(names, choices, strict=True) if name is not None)
    return {name: tally(group) for name, group in grouped(named).items()}


def tally_distances(distances: Iterable[Optional[int]], choices: Sequence[Choice]) -> Dict[str, Tally]:
    """A tally for each group of distances, in the order of a table."""
    found = tally_groups(map(distance_name, distances), choices)
    return {name: found[name] for name in sorted(found, key=distance_order)}


def disc_numbers(groups: Mapping[str, Tally]) -> Dict[str, Optional[float]]:
    """The mean accuracy of the groups that need context (all but ``SAME_SENTENCE``), weighted by their sizes
    (Disc.), their plain mean (Disc_avg), and the weighted mean of all groups (Disc_all-d); None if there is
    no such group."""
    everything = {name: (group["accuracy"], group["examples"]) for name, group in groups.items()}
    context = [group for name, group in everything.items() if name != SAME_SENTENCE]
    alike = [(accuracy, 1) for accuracy, _ in context]
    return {"disc": _mean(context), "disc_avg": _mean(alike), "disc_all_d": _mean([*everything.values()])}


def _mean(weighted: Sequence[Tuple[float, int]]) -> Optional[float]:
    total = sum(weight for _, weight in weighted)
    return sum(value * weight for value, weight in weighted) / total if total else None


@dataclass(frozen=True)
class ContrastiveReport:
    """The accuracies on a set: for each convention the tally of all examples, with ``phenomena``,
    ``distances`` and ``disc_numbers``. ``convention`` is the one to report, ``content`` a fingerprint of the
    examples."""

    name: str
    format: str
    content: str
    convention: Convention
    conventions: Mapping[str, Tally]

    @property
    def chosen(self) -> Tally:
        return self.conventions[str(self.convention)]

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: the chosen convention's numbers, and those of all four at the key ``conventions``."""
        return {**vars(self), "convention": str(self.convention), **self.chosen}

    def table(self) -> str:
        """The chosen convention's numbers as an aligned table."""
        report = self.chosen
        rows = [[f"{self.name} ({self.convention})", "examples", "accuracy %", "ties", "ties %"]]
        phenomena = {phenomenon_name(name): one for name, one in report["phenomena"].items()}
        distances = {f"distance {name}": one for name, one in report["distances"].items()}
        for name, one in {"all": report, **phenomena, **distances}.items():
            numbers = [f"{one['accuracy']:.2f}", str(one["ties"]), f"{one['tie_share']:.2f}"]
            rows.append([name, str(one["examples"]), *numbers])
        for key, name in DISC_NAMES.items():
            rows.append([name, "", "-" if report[key] is None else f"{report[key]:.2f}", "", ""])
        return aligned_table(rows)


def contrastive_report(
    contrastive_set: ContrastiveSet,
    scores: Sequence[Sequence[CandidateScore]],
    convention: Optional[Convention] = None,
) -> ContrastiveReport:
    """The accuracies on a set, from the scores of each example's candidates in the set's order."""
    examples = contrastive_set.examples
    if [len(row) for row in scores] != [len(example.candidates) for example in examples]:
        raise ValueError("expected one score per candidate of every example")
    disc_groups = list(map(FORMATS[contrastive_set.format].disc_group, examples))
    reports = {}
    for each in CONVENTIONS:
        choices = [choose(row, e.correct, each) for row, e in zip(scores, examples, strict=True)]
        reports[str(each)] = {
            **tally(choices),
            "phenomena": tally_groups((example.phenomenon for example in examples), choices),
            "distances": tally_distances((example.distance for example in examples), choices),
            **disc_numbers(tally_groups(disc_groups, choices)),
        }
    chosen = convention or contrastive_set.convention
    content = fingerprint(sorted(map(content_of, examples)))
    return ContrastiveReport(contrastive_set.name, contrastive_set.format, content, chosen, reports)


def content_of(example: ContrastiveExample) -> str:
    """A fingerprint of an example's source and candidates."""
    return fingerprint([example.source, [each.current for each in example.candidates]])


def distance_order(group: str) -> int:
    """The place of a group of ``distance_name`` in a table."""
    last = [">3", "unknown"]
    return 4 + last.index(group) if group in last else int(group)


def example_lines(
    contrastive_set: ContrastiveSet, scores: Sequence[Sequence[CandidateScore]], convention: Convention
) -> Iterable[str]:
    """A JSON object for each example: what it is, a fingerprint of its source and candidates (``content``),
    what was chosen (null: a tie), and all scores."""
    for example, row in zip(contrastive_set.examples, scores, strict=True):
        choice = choose(row, example.correct, convention)
        known = {key: getattr(example, key) for key in ("id", "phenomenon", "distance", "correct")}
        known["content"] = content_of(example)
        record = {"set": contrastive_set.name, **known, "chosen": choice.chosen, "tie": choice.tie,
                  "convention": str(convention), "scores": [vars(score) for score in row]}  # fmt: skip
        yield json.dumps(record, ensure_ascii=False)
