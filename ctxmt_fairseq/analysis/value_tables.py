"""Shows values of runs across one of their conditions: tables, records, differences."""

import statistics
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.result_values import REAL, Value
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.plots.charts import Place, in_order, place_name
from ctxmt_fairseq.base.tables import aligned_table, mean_and_deviation, records_table, remark
from ctxmt_fairseq.evaluation.runs.results_file import TRAINED, decimals
from ctxmt_fairseq.evaluation.significance.p_values import holm_within, stars
from ctxmt_fairseq.evaluation.significance.seeds import ENOUGH, TWO_RUNS, OverSeeds, over_seeds

SYSTEM, WINDOW = "system", "window"
USUAL = {"context": REAL, WINDOW: TRAINED, "decoding": "prefix", "n": "given"}  # goes without saying
WIDTH = 100  # characters of a table
TESTS = {
    "over seeds": "{measure}: {system}, {place}", "seeds": "{seeds}", "mean": "{mean:+.{digits}f}",
    "95 % interval": "{low:+.{digits}f} .. {high:+.{digits}f}", "p": "{p:.4f}", "Holm": "{p_holm:.4f}",
    "": "{stars}",
}  # fmt: skip


Added = Tuple[np.ndarray, np.ndarray]


class Placed(NamedTuple):
    """A value in a table of its measure: the row is the system with its unusual conditions, the column a
    place.

    Attributes:
        added: what each example adds to what is subtracted (0, if nothing is), and to the value itself; where
            it is not known, the two values.
        against: the place whose value was subtracted; "" if none was.
    """

    measure: str
    system: str
    place: Place
    value: float
    run: str
    added: Added
    against: str = ""

    @property
    def column(self) -> str:
        """The head of the column."""
        return f"{place_name(self.place)} - {self.against}" if self.against else place_name(self.place)


# ---- which values ------------------------------------------------------------------------------------


def chosen(
    values: Sequence[Value], across: str, metrics: Sequence[str] = (), only: Sequence[str] = ()
) -> List[Value]:
    """The values that have a place across a condition: the system, or a name in ``Value.at``. ``metrics`` may
    omit "best" and what follows a comma; none: all measures. ``only`` has requirements NAME=VALUE on
    ``Value.at``; a value without this name meets them."""
    kept = [one for one in values if place_of(one, across) is not None]
    for condition in only:
        name, _, wanted = condition.partition("=")
        if not any(name in one.at for one in kept):
            names = ", ".join(dict.fromkeys(name for one in kept for name in one.at))
            raise BadInput(f"--only {condition}: write NAME=VALUE, with a name from {names}")
        kept = [one for one in kept if place_name(one.at.get(name, wanted)) == wanted]
    for run in dict.fromkeys(one.run for one in values):
        if not any(one.run == run for one in kept):
            known = _names([one for one in values if one.run == run])
            wanted = " ".join([across, *(["with", *only] if only else [])])
            raise BadInput(f"expected results across {wanted}, found those across {known}", run)
    measures = list(dict.fromkeys(one.measure for one in kept))
    for metric in metrics:
        if not any(_is(metric, measure) for measure in measures):
            raise BadInput(f"--metrics {metric}: expected one of {'; '.join(measures)}")
    found = [one for one in kept if not metrics or any(_is(metric, one.measure) for metric in metrics)]
    hows: Dict[str, str] = {}
    for one in found:
        if one.how and hows.setdefault(one.measure, one.how) != one.how:
            wanted = f"expected {one.measure} by {hows[one.measure]}, as in the other runs"
            raise BadInput(f"{wanted}, found it by {one.how}; --metrics chooses others", one.run)
    return found


def _names(values: Sequence[Value]) -> str:
    return ", ".join(dict.fromkeys([SYSTEM, *(name for one in values for name in one.at)]))


def _is(metric: str, measure: str) -> bool:
    return metric.lower() in (measure.lower(), measure.lower().removeprefix("best ").split(",")[0])


# ---- where they are placed ---------------------------------------------------------------------------


def place_of(value: Value, across: str) -> Optional[Place]:
    """The place of a value; None: it has none."""
    if across == SYSTEM:
        return value.system
    place = value.at.get(across)
    return value.at.get(TRAINED, place) if across == WINDOW and place == TRAINED else place


def placed(values: Sequence[Value], across: str) -> List[Placed]:
    """The values, by measure, row and place."""
    return _ordered(
        Placed(*key, one.value, one.run, (np.zeros_like(_each(one)), _each(one)))
        for one, key in _keys(values, across)
    )


def differences(values: Sequence[Value], across: str, against: str) -> List[Placed]:
    """The differences of a run's values from its value at one place, in the same measure and row; across
    systems those of their n-th runs. Across windows the place may be "trained", each system's own window."""
    seeds = _seeds(values)

    def run(value: Value) -> Any:
        return seeds[value.system, value.run] if across == SYSTEM else value.run

    known = {(run(one), *key[:2], place_name(key[2])): one for one, key in _keys(values, across)}
    found = []
    for one, key in _keys(values, across):
        base = place_name(one.at.get(TRAINED, TRAINED)) if against == TRAINED else against
        less = known.get((run(one), *key[:2], base))
        if less is not None and base != place_name(key[2]):
            both = _each(less), _each(one)
            if len(both[0]) != len(both[1]):
                both = np.array([less.value]), np.array([one.value])
            found.append(Placed(*key, one.value - less.value, one.run, both, against))
    if not found:
        places = ", ".join(dict.fromkeys(place_name(place) for _, (*_, place) in _keys(values, across)))
        raise BadInput(f"--against {against}: expected one of {places}")
    return _ordered(found)


def _each(value: Value) -> np.ndarray:
    return np.array([value.value]) if value.each is None else value.each


def _seeds(values: Sequence[Value]) -> Dict[Tuple[str, str], int]:
    """System and run -> the run's number within its system."""
    systems = grouped(dict.fromkeys((one.system, one.run) for one in values))
    return {(system, run): number for system, runs in systems.items() for number, run in enumerate(runs)}


def _keys(values: Sequence[Value], across: str) -> Iterator[Tuple[Value, Tuple[str, str, Place]]]:
    """Each value that has a place, with its measure, row and place."""
    for one in values:
        place = place_of(one, across)
        if place is not None:
            measure = one.measure if one.lines is None else f"{one.measure}, n = {one.lines:,}"
            yield one, (measure, _row(one, across), place)


def _row(value: Value, across: str) -> str:
    """The system, and the conditions of its value that are not usual."""
    hidden = (across,) if across == WINDOW else (across, TRAINED)
    usual = {**USUAL, "context": None} if across == SYSTEM else USUAL
    unusual = [f"{name} {place_name(place)}" for name, place in value.at.items()
               if name not in hidden and usual.get(name) != place]  # fmt: skip
    return ", ".join(unusual if across == SYSTEM else [value.system, *unusual]) or value.measure


def _ordered(found: Iterable[Placed]) -> List[Placed]:
    """The values by measure and row in the order of their appearance, then by place."""
    found = list(found)
    measures = list(dict.fromkeys(one.measure for one in found))
    rows = list(dict.fromkeys(one.system for one in found))
    places = in_order(one.place for one in found)

    def order(one: Placed) -> Tuple[int, int, int]:
        return measures.index(one.measure), rows.index(one.system), places.index(one.place)

    return sorted(found, key=order)


# ---- how they are shown ------------------------------------------------------------------------------


def value_tables(found: Sequence[Placed]) -> str:
    """A table for each measure: mean and deviation over the runs, and how many runs if some lack it."""
    return "\n\n".join(map(_table, grouped((one.measure, one) for one in found).values()))


def _table(found: Sequence[Placed]) -> str:
    """The table of one measure; rows and columns are swapped if it would be too wide."""
    measure = found[0].measure
    places = in_order(one.place for one in found)
    columns = sorted(found, key=lambda one: (bool(one.against), places.index(one.place)))
    heads = list(dict.fromkeys(one.column for one in columns))
    rows = [[measure, *heads]]
    for system, own in grouped((one.system, one) for one in found).items():
        row = grouped((one.column, one) for one in own)
        runs = max(map(len, row.values()))
        name = f"{system} ({runs} runs)" if runs > 1 else system
        rows.append([name, *(cell_of(row.get(head, []), runs) for head in heads)])
    both = aligned_table(rows), aligned_table(list(zip(*rows, strict=True)))
    return min(both, key=lambda table: max(WIDTH, len(table.splitlines()[1])))


def cell_of(found: Sequence[Placed], runs: int) -> str:
    if not found:
        return "-"
    sign = "+" if found[0].against else ""
    lacking = f" ({len(found)})" if len(found) < runs else ""
    return mean_and_deviation([one.value for one in found], decimals(found[0].measure), sign) + lacking


def value_records(found: Sequence[Placed]) -> List[Dict[str, Any]]:
    """For JSON: what the tables show, with the value of each run, and what several say of other seeds.
    Differences have p, and ``p_holm``, which is corrected over those of a measure."""
    cells = grouped(((one.measure, one.system, one.column), one) for one in found)
    records: List[Dict[str, Any]] = []
    for (measure, system, column), ones in cells.items():
        runs, test = [one.value for one in ones], _over_seeds(ones)
        records.append(
            {"measure": measure, "system": system, "place": column, "values": runs,
             "mean": statistics.fmean(runs), "deviation": statistics.stdev(runs) if len(runs) > 1 else None,
             "low": test and test.low, "high": test and test.high,
             "p": test.p if test and ones[0].against else None,
             "seeds": len(runs), "method": test and test.method}
        )  # fmt: skip
    tested = [record for record in records if record["p"] is not None]
    corrected = holm_within(tested, lambda record: record["measure"], lambda record: record["p"])
    for record, p in zip(tested, corrected, strict=True):
        record["p_holm"] = p
    return records


def _over_seeds(ones: Sequence[Placed]) -> Optional[OverSeeds]:
    """Over seeds and examples, or over seeds alone where examples are not known; None: a single run."""
    if len(ones) < 2:
        return None
    if len({len(each) for one in ones for each in one.added}) > 1:
        values = np.array([[one.value] for one in ones])
        return over_seeds(np.zeros_like(values), values)
    return over_seeds(*(np.stack(each) for each in zip(*(one.added for one in ones), strict=True)))


def tests_table(records: Sequence[Mapping[str, Any]]) -> str:
    """The differences over seeds, and how they were tested; empty without any."""
    tested = [record for record in records if record["p"] is not None]
    if not tested:
        return ""
    rows = (
        {**record, "stars": stars(record["p_holm"]), "digits": decimals(record["measure"])}
        for record in tested
    )
    said = [*dict.fromkeys(record["method"] for record in tested)]
    said += [TWO_RUNS] if any(record["seeds"] < ENOUGH for record in tested) else []
    return "\n".join([records_table(rows, TESTS), *map(remark, said)])


def best_places(found: Sequence[Placed]) -> Dict[str, Dict[str, List[Place]]]:
    """Measure -> row -> for each run the place with the best value, the first one if several have it."""
    runs = grouped(((one.measure, one.system, one.run), one) for one in found)
    shown: Dict[str, Dict[str, List[Place]]] = {}
    for (measure, system, _), ones in runs.items():
        sign = -1 if measure.startswith("ter") else 1  # of what evaluations measure, errors alone are lower
        best = max(ones, key=lambda one: sign * one.value)
        shown.setdefault(measure, {}).setdefault(system, []).append(best.place)
    return shown
