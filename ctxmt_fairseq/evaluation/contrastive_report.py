"""From the scores of a contrastive set's candidates to accuracies. Pure functions, no torch.

A candidate is chosen by its score under a ``Convention``. When candidates share the best score there is no
choice: a tie counts as wrong and is reported. Disc., Disc_avg and Disc_all-d are those of appendix B of
"Focused Concatenation for Context-Aware Neural Machine Translation" (Lupo et al. 2022).
"""

import json
import math
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.evaluation.contrastive_sets import CONVENTIONS, FORMATS, ContrastiveSet, Convention
from ctxmt_fairseq.evaluation.contrastive_sets.formats import distance_name
from ctxmt_fairseq.tables import aligned_table

SAME_SENTENCE = "0"  # the distance group that needs no context
DISC_NAMES = {"disc": "Disc.", "disc_avg": "Disc_avg", "disc_all_d": "Disc_all-d"}


@dataclass(frozen=True)
class CandidateScore:
    """Summed token log-probabilities of a candidate and how many tokens they are.

    Attributes:
        current_sum, current_tokens: of the current sentence with its ``</s>``.
        window_sum, window_tokens: of the whole target window.
    """

    current_sum: float
    current_tokens: int
    window_sum: float
    window_tokens: int

    def value(self, convention: Convention) -> float:
        """The score to compare; higher is better."""
        total, tokens = (
            (self.current_sum, self.current_tokens)
            if convention.span == "current"
            else (self.window_sum, self.window_tokens)
        )
        return total / tokens if convention.reduction == "mean" else total


@dataclass(frozen=True)
class Choice:
    """What the scores choose: ``chosen`` is None for a tie of the best score."""

    chosen: Optional[int]
    correct: bool

    @property
    def tie(self) -> bool:
        return self.chosen is None


def choose(scores: Sequence[CandidateScore], correct: int, convention: Convention) -> Choice:
    """Choose among one example's candidates.

    Raises:
        ValueError: a score is not a number.
    """
    values = [score.value(convention) for score in scores]
    if any(map(math.isnan, values)):
        raise ValueError("a candidate's score is not a number")
    best = [index for index, value in enumerate(values) if value == max(values)]
    return Choice(best[0] if len(best) == 1 else None, best == [correct])


@dataclass(frozen=True)
class Tally:
    """How many of a group's examples are right, and how many tie."""

    correct: int
    ties: int
    examples: int

    @classmethod
    def of(cls, choices: Iterable[Choice]) -> "Tally":
        choices = list(choices)
        return cls(sum(c.correct for c in choices), sum(c.tie for c in choices), len(choices))

    @property
    def accuracy(self) -> float:
        """The share of right choices, in percent."""
        return 100 * self.correct / self.examples

    @property
    def tie_share(self) -> float:
        """The share of ties, in percent."""
        return 100 * self.ties / self.examples

    def as_dict(self) -> Dict[str, Any]:
        return {
            "examples": self.examples,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "ties": self.ties,
            "tie_share": self.tie_share,
        }


def disc_numbers(groups: Mapping[str, Tuple[float, int]]) -> Dict[str, Optional[float]]:
    """Disc., Disc_avg and Disc_all-d from accuracies and sample sizes.

    Args:
        groups: name to (accuracy in percent, examples). The group ``SAME_SENTENCE`` needs no context.

    Returns:
        ``disc``, the mean accuracy over the groups that need context, weighted by their sizes;
        ``disc_avg``, the plain mean over the same groups; ``disc_all_d``, weighted over all groups. None
        where there is no such group.
    """
    context = [group for name, group in groups.items() if name != SAME_SENTENCE]
    return {
        "disc": _weighted(context),
        "disc_avg": sum(accuracy for accuracy, _ in context) / len(context) if context else None,
        "disc_all_d": _weighted(list(groups.values())),
    }


def _weighted(groups: Sequence[Tuple[float, int]]) -> Optional[float]:
    total = sum(size for _, size in groups)
    return sum(accuracy * size for accuracy, size in groups) / total if total else None


@dataclass(frozen=True)
class ConventionReport:
    """The accuracies under one scoring convention."""

    overall: Tally
    phenomena: Mapping[str, Tally]
    distances: Mapping[str, Tally]
    disc: Mapping[str, Optional[float]]

    def as_dict(self) -> Dict[str, Any]:
        return {
            **self.overall.as_dict(),
            "phenomena": {name: tally.as_dict() for name, tally in self.phenomena.items()},
            "distances": {name: tally.as_dict() for name, tally in self.distances.items()},
            **self.disc,
        }


@dataclass(frozen=True)
class ContrastiveReport:
    """A set's accuracies under every convention, and the convention that was chosen."""

    name: str
    format: str
    convention: Convention
    reports: Mapping[Convention, ConventionReport]

    @property
    def chosen(self) -> ConventionReport:
        return self.reports[self.convention]

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: the chosen convention's numbers, and those of all four under ``conventions``."""
        return {
            "name": self.name,
            "format": self.format,
            "convention": str(self.convention),
            **self.chosen.as_dict(),
            "conventions": {str(key): report.as_dict() for key, report in self.reports.items()},
        }

    def table(self) -> str:
        """The chosen convention's numbers as an aligned table."""
        report = self.chosen
        rows = [[f"{self.name} ({self.convention})", "examples", "accuracy %", "ties", "ties %"]]
        tallies: List[Tuple[str, Tally]] = [("all", report.overall)]
        tallies += report.phenomena.items()
        tallies += ((f"distance {name}", tally) for name, tally in report.distances.items())
        for name, tally in tallies:
            numbers = [f"{tally.accuracy:.2f}", str(tally.ties), f"{tally.tie_share:.2f}"]
            rows.append([name, str(tally.examples), *numbers])
        for key, name in DISC_NAMES.items():
            value = report.disc[key]
            rows.append([name, "", "-" if value is None else f"{value:.2f}", "", ""])
        return aligned_table(rows)


def contrastive_report(
    contrastive_set: ContrastiveSet,
    scores: Sequence[Sequence[CandidateScore]],
    convention: Optional[Convention] = None,
) -> ContrastiveReport:
    """Accuracies of a scored set.

    Args:
        scores: per example the scores of its candidates, in the set's order.
        convention: the one to report; the set's own if not given.

    Raises:
        ValueError: not one score per candidate, or a score that is not a number.
    """
    examples = contrastive_set.examples
    if [len(row) for row in scores] != [len(example.candidates) for example in examples]:
        raise ValueError("expected one score per candidate of every example")
    disc_groups = list(map(FORMATS[contrastive_set.format].disc_group, examples))
    reports = {}
    for each in CONVENTIONS:
        choices = [choose(row, e.correct, each) for row, e in zip(scores, examples, strict=True)]
        distances = tally_groups((distance_name(example.distance) for example in examples), choices)
        disc = tally_groups(disc_groups, choices)
        reports[each] = ConventionReport(
            overall=Tally.of(choices),
            phenomena=tally_groups((example.phenomenon for example in examples), choices),
            distances={name: distances[name] for name in sorted(distances, key=distance_order)},
            disc=disc_numbers({name: (tally.accuracy, tally.examples) for name, tally in disc.items()}),
        )
    return ContrastiveReport(
        contrastive_set.name, contrastive_set.format, convention or contrastive_set.convention, reports
    )


def tally_groups(names: Iterable[Optional[str]], choices: Sequence[Choice]) -> Dict[str, Tally]:
    """A tally per group; ``names`` has one group per choice, None to leave the choice out."""
    groups: Dict[str, List[Choice]] = {}
    for name, choice in zip(names, choices, strict=True):
        if name is not None:
            groups.setdefault(name, []).append(choice)
    return {name: Tally.of(group) for name, group in groups.items()}


def distance_order(group: str) -> int:
    """Where a group of ``distance_name`` stands in a table."""
    last = [">3", "unknown"]
    return 4 + last.index(group) if group in last else int(group)


def example_lines(
    contrastive_set: ContrastiveSet, scores: Sequence[Sequence[CandidateScore]], convention: Convention
) -> Iterable[str]:
    """One JSON object per example: what it is, what was chosen (null for a tie), every candidate's scores."""
    for example, row in zip(contrastive_set.examples, scores, strict=True):
        choice = choose(row, example.correct, convention)
        record = {
            "set": contrastive_set.name,
            "id": example.id,
            "phenomenon": example.phenomenon,
            "distance": example.distance,
            "correct": example.correct,
            "chosen": choice.chosen,
            "tie": choice.tie,
            "convention": str(convention),
            "scores": [vars(score) for score in row],
        }
        yield json.dumps(record, ensure_ascii=False)
