"""Compares systems on a contrastive set, by the examples that ``ctxmt contrast --examples`` wrote."""

from dataclasses import asdict, dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import records_table
from ctxmt_fairseq.evaluation.contrastive_report import distance_order
from ctxmt_fairseq.evaluation.contrastive_sets.formats import distance_name
from ctxmt_fairseq.evaluation.significance.p_values import holm_within, mcnemar, stars, system_pairs
from ctxmt_fairseq.text.json_files import get, json_lines
from ctxmt_fairseq.text.text_lines import PathLike

Key = Tuple[str, str]  # set and id
COLUMNS = {
    "group": "{group}", "systems": "{b} - {a}", "examples": "{examples}", "a %": "{accuracy_a:.2f}",
    "b %": "{accuracy_b:.2f}", "b - a": "{difference:+.2f}", "only a": "{only_a}", "only b": "{only_b}",
    "test": "{test}", "p": "{p:.4f}", "Holm": "{p_holm:.4f}", "": "{stars}",
}  # fmt: skip


class Outcome(NamedTuple):
    """The phenomenon and distance (None: unknown) of an example, and whether a system chose the right
    candidate (a tie is wrong)."""

    phenomenon: str
    distance: Optional[int]
    correct: bool

    @property
    def groups(self) -> List[str]:
        """The groups to which the example belongs; ``disc`` has the examples that need context."""
        needs_context = self.distance not in (None, 0)
        return ["all", self.phenomenon, f"distance {distance_name(self.distance)}"] + ["disc"] * needs_context


@dataclass(frozen=True)
class ContrastComparison:
    """McNemar's test of two systems on one group of examples.

    Attributes:
        a, b: the systems.
        only_a, only_b: how many examples only this system gets right.
        test: ``exact`` or ``chi-squared``.
        p_holm: p corrected over the systems that are compared in this group.
    """

    a: str
    b: str
    group: str
    examples: int
    correct_a: int
    correct_b: int
    only_a: int
    only_b: int
    test: str
    p: float
    p_holm: float

    def as_dict(self) -> Dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "stars": stars(self.p_holm)}


def read_outcomes(path: PathLike) -> Dict[Key, Outcome]:
    """Read the examples in a file that ``ctxmt contrast --examples`` wrote."""
    outcomes: Dict[Key, Outcome] = {}
    for place, record in json_lines(path):
        chosen, distance = (get(place, record, name, int, null=True) for name in ("chosen", "distance"))
        key = (get(place, record, "set", str), get(place, record, "id", str))
        correct = chosen == get(place, record, "correct", int)
        outcome = Outcome(get(place, record, "phenomenon", str), distance, correct)
        if key in outcomes:
            raise place.error(f"the example {key[1]} of {key[0]} is there twice; take one out")
        outcomes[key] = outcome
    if not outcomes:
        raise BadInput("expected examples of ctxmt contrast --examples, found an empty file", path)
    return outcomes


def compare_contrast(paths: Sequence[str], all_pairs: bool = False) -> List[ContrastComparison]:
    """McNemar's test on all examples, each phenomenon, each distance, and those that need context."""
    pairs = system_pairs(len(paths), all_pairs)
    systems = [read_outcomes(path) for path in paths]
    for path, system in zip(paths[1:], systems[1:], strict=True):
        _check_alike(paths[0], systems[0], path, system)
    groups: Dict[str, List[Key]] = {}
    for key, outcome in systems[0].items():
        for group in outcome.groups:
            groups.setdefault(group, []).append(key)
    found = []
    for group in sorted(groups, key=_group_order):
        for a, b in pairs:
            right = [(systems[a][key].correct, systems[b][key].correct) for key in groups[group]]
            both, only_a, only_b = (
                right.count(each) for each in ((True, True), (True, False), (False, True))
            )
            counts = len(right), both + only_a, both + only_b, only_a, only_b
            found.append((paths[a], paths[b], group, *counts, *mcnemar(only_a, only_b)))
    corrected = holm_within(found, lambda row: row[2], lambda row: row[-1])
    return [ContrastComparison(*row, p) for row, p in zip(found, corrected, strict=True)]


def _check_alike(first_path: str, first: Dict[Key, Outcome], path: str, outcomes: Dict[Key, Outcome]) -> None:
    for some, others in ((first, outcomes), (outcomes, first)):
        for (name, example), outcome in some.items():
            other = others.get((name, example))
            if other is None:
                raise BadInput(
                    f"expected the examples of {first_path}, but {example} of {name} is not in both", path
                )
            if other[:2] != outcome[:2]:
                raise BadInput(
                    f"{example} of {name} has another phenomenon or distance than in {first_path}", path
                )


def _group_order(group: str) -> Tuple[int, int, str]:
    """The order of the table of accuracies: all, phenomena, distances in their order, Disc."""
    if group.startswith("distance "):
        return 2, distance_order(group.removeprefix("distance ")), ""
    return {"all": 0, "disc": 3}.get(group, 1), 0, group


def comparison_table(comparisons: Sequence[ContrastComparison]) -> str:
    """An aligned table with a row for each comparison; accuracies in percent."""
    rows = []
    for one in comparisons:
        a, b = (100 * correct / one.examples for correct in (one.correct_a, one.correct_b))
        rows.append({**one.as_dict(), "accuracy_a": a, "accuracy_b": b, "difference": b - a})
    return records_table(rows, COLUMNS)
