"""Compares systems on a contrastive set, by the examples that ``ctxmt contrast --examples`` wrote."""

import logging
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.tables import records_table
from ctxmt_fairseq.evaluation.contrastive_report import distance_order
from ctxmt_fairseq.evaluation.contrastive_sets.formats import distance_name, phenomenon_name
from ctxmt_fairseq.evaluation.significance.p_values import McNemar, holm_within, mcnemar, stars, system_pairs
from ctxmt_fairseq.evaluation.significance.seeds import OverSeeds, over_seeds, runs_of
from ctxmt_fairseq.text.json_files import get, json_lines
from ctxmt_fairseq.text.text_lines import PathLike

logger = logging.getLogger(__name__)
Key = Tuple[str, str]  # set and id
_HEAD = {
    "group": "{group}", "systems": "{b} - {a}", "examples": "{examples}", "a %": "{accuracy_a:.2f}",
    "b %": "{accuracy_b:.2f}", "b - a": "{difference:+.2f}",
}  # fmt: skip
_END = {"p": "{p:.4f}", "Holm": "{p_holm:.4f}", "": "{stars}"}
COLUMNS = {**_HEAD, "only a": "{only_a}", "only b": "{only_b}", "test": "{test}", **_END}
_INTERVAL = {"95 % interval": "{low:+.2f} .. {high:+.2f}", "seeds": "{seeds[0]}, {seeds[1]}"}
SEED_COLUMNS = {**_HEAD, **_INTERVAL, **_END}


ALL, DISC = (0, 0, "all"), (3, 0, "disc")  # groups of examples


class Outcome(NamedTuple):
    """An example's phenomenon, distance (None: unknown), whether a system is right by a convention (a tie is
    wrong), and a fingerprint of its sentences ("": unknown)."""

    phenomenon: str
    distance: Optional[int]
    correct: bool
    convention: str
    content: str = ""

    @property
    def groups(self) -> List[Tuple[int, int, str]]:
        """The groups to which the example belongs, which sort as in the table of accuracies; ``disc`` has the
        examples that need context."""
        distance = distance_name(self.distance)
        own = (1, 0, phenomenon_name(self.phenomenon)), (2, distance_order(distance), f"distance {distance}")
        return [ALL, *own, *([] if self.distance in (None, 0) else [DISC])]


@dataclass(frozen=True)
class ContrastComparison:
    """Two systems on one group of examples: how many each gets right (the mean of several runs), and the
    ``result`` of two trained models, or over seeds, in percent; ``p_holm`` is corrected over the systems
    compared in this group."""

    a: str
    b: str
    group: str
    examples: int
    correct_a: float
    correct_b: float
    result: Union[McNemar, OverSeeds]
    p_holm: float

    def as_dict(self) -> Dict[str, Any]:
        record = asdict(self)
        del record["result"]
        return {**record, **self.result._asdict(), "stars": stars(self.p_holm)}


def read_outcomes(path: PathLike) -> Dict[Key, Outcome]:
    """Read the examples in a file that ``ctxmt contrast --examples`` wrote."""
    outcomes: Dict[Key, Outcome] = {}
    for place, record in json_lines(path):
        chosen, distance = (get(place, record, name, int, null=True) for name in ("chosen", "distance"))
        key = (get(place, record, "set", str), get(place, record, "id", str))
        correct = chosen == get(place, record, "correct", int)
        phenomenon, convention = get(place, record, "phenomenon", str), str(record.get("convention", "?"))
        outcome = Outcome(phenomenon, distance, correct, convention, str(record.get("content", "")))
        if key in outcomes:
            raise place.error(f"the example {key[1]} of {key[0]} is there twice; take one out")
        outcomes[key] = outcome
    if not outcomes:
        raise BadInput("expected examples of ctxmt contrast --examples, found an empty file", path)
    return outcomes


def compare_contrast(runs: Sequence[Tuple[str, str]], all_pairs: bool = False) -> List[ContrastComparison]:
    """Compare systems on all examples, each phenomenon, each distance, and those that need context. A run is
    a system and its file; those of one system are its seeds. The test is McNemar's; where a system has
    several runs ``over_seeds``, in groups of two or more examples."""
    systems = runs_of([name for name, _ in runs])
    pairs = system_pairs(len(systems), all_pairs)
    (_, first), *others = runs
    outcomes = [read_outcomes(path) for _, path in runs]
    for (_, path), each in zip(others, outcomes[1:], strict=True):
        _check_alike(first, outcomes[0], path, each)
    groups = grouped((group, key) for key, outcome in outcomes[0].items() for group in outcome.groups)
    names, single = list(systems), len(systems) == len(runs)
    found = []
    for (*_, label), keys in sorted(groups.items()):
        if not single and len(keys) < 2:
            continue
        every = np.array([[each[key].correct for key in keys] for each in outcomes])
        right = [every[places] for places in systems.values()]
        correct = [int(each.sum()) if single else float(each.sum(1).mean()) for each in right]
        for a, b in pairs:
            both = right[a], right[b]
            result = _mcnemar(*both) if single else over_seeds(*(100.0 * each for each in both))
            found.append((names[a], names[b], label, len(keys), correct[a], correct[b], result))
    if not found:
        raise BadInput("expected two or more examples for systems with seeds, found one", first)
    corrected = holm_within(found, lambda row: row[2], lambda row: row[-1].p)
    return [ContrastComparison(*row, p) for row, p in zip(found, corrected, strict=True)]


def _mcnemar(first: np.ndarray, second: np.ndarray) -> McNemar:
    return mcnemar(int((first & ~second).sum()), int((second & ~first).sum()))


def _check_alike(first_path: str, first: Dict[Key, Outcome], path: str, outcomes: Dict[Key, Outcome]) -> None:
    for key in [*first, *outcomes]:
        one, mine, other = f"{key[1]} of {key[0]}", first.get(key), outcomes.get(key)
        if mine is None or other is None:
            raise BadInput(f"expected the examples of {first_path}, but {one} is not in both", path)
        if mine[:2] != other[:2]:
            raise BadInput(f"{one} has another phenomenon or distance than in {first_path}", path)
        if mine.content and other.content and mine.content != other.content:
            raise BadInput(f"{one} is another example than in {first_path}", path)
    here, there = (", ".join(sorted({each.convention for each in of.values()})) for of in (outcomes, first))
    if here != there:
        logger.warning("%s: right by %s, in %s by %s", path, here, first_path, there)


def comparison_table(comparisons: Sequence[ContrastComparison]) -> str:
    """An aligned table with a row for each comparison; accuracies in percent."""
    rows, columns = [], COLUMNS
    for one in comparisons:
        a, b = (100 * correct / one.examples for correct in (one.correct_a, one.correct_b))
        rows.append({**one.as_dict(), "accuracy_a": a, "accuracy_b": b, "difference": b - a})
        columns = SEED_COLUMNS if isinstance(one.result, OverSeeds) else COLUMNS
    return records_table(rows, columns)
