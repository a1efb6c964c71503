"""Systems as rows of a table, with the mean and deviation over its runs (seeds): chapter 6 of the thesis."""

import statistics
from typing import Any, Dict, Iterator, List, Sequence

from ctxmt_fairseq.analysis.side_by_side import Scored, Value, read_values, scores
from ctxmt_fairseq.evaluation.whole_runs.results import TRAINED
from ctxmt_fairseq.tables import aligned_table, mean_and_deviation

REAL = "real"  # context as in training
PENALTY = "n"  # the length penalty that a search found


def system_rows(systems: Sequence[str], metrics: Sequence[str]) -> List[Value]:
    """What ``ctxmt evaluate``, ``score``, ``contrast`` or ``probe`` wrote of systems.

    A system is called after the variant that was evaluated, too; places are contexts, and "" for accuracies.

    Args:
        metrics: of translations, in lower case.
    """

    def read(system: str, path: str) -> Iterator[Value]:
        found = [one for one in scores(path)[0] if one.context is None or one.measure in metrics]
        named = [each for each in found if each.name]
        names = {one.window: {_variant(each): None for each in named if each.window == one.window}
                 for one in found}  # fmt: skip
        rows: Dict[Any, Scored] = {}
        for one in found:
            context = "" if one.context is None else REAL if one.context == TRAINED else one.context
            for variant in [_variant(one)] if one.context else names[one.window] or [_variant(one)]:
                rows[variant, one.measure, context] = one
                yield Value(system + variant, one.measure, context, one.value, one.lines, path)
        for (variant, measure, context), one in rows.items():
            other = rows.get((variant, measure, "random"))
            if context == REAL and other:
                yield Value(
                    system + variant, measure, f"{REAL} - random", one.value - other.value, one.lines, path
                )
        penalties = {_variant(one): one.name.penalty for one in found if one.name}
        for variant, penalty in penalties.items():
            if penalty is not None:
                yield Value(system + variant, PENALTY, "", penalty, None, path)

    return read_values(systems, read)


def _variant(one: Scored) -> str:
    """What is not usual, to stand behind a system's name."""
    window = f", windows of {one.window}" if one.window else ""
    if one.name is None:
        return window
    decoded = ", whole windows decoded" if one.name.decoding == "window" else ""
    return f"{window}{decoded}{', n opt' if one.name.penalty is not None else ''}"


def rows_table(values: Sequence[Value]) -> str:
    """Mean and standard deviation of every row and column; how many values, where a run lacks it."""
    columns = sorted(dict.fromkeys(one[1:3] for one in values), key=lambda column: column[0] != PENALTY)
    rows: Dict[str, Dict[Any, List[float]]] = {}
    for one in values:
        rows.setdefault(one.system, {}).setdefault(one[1:3], []).append(one.value)
    lines = [["", "runs", *(", ".join(filter(None, column)) for column in columns)]]
    for system, row in rows.items():
        runs = max(map(len, row.values()))
        found = [row.get(column, []) for column in columns]
        cells = [
            mean_and_deviation(each) + (f" ({len(each)})" if 0 < len(each) < runs else "") for each in found
        ]
        lines.append([system, str(runs), *cells])
    return aligned_table(lines)


def rows_records(values: Sequence[Value]) -> List[Dict[str, Any]]:
    """Every row and column with the value of each run, for JSON."""
    found: Dict[Any, List[float]] = {}
    for one in values:
        found.setdefault(one[:3], []).append(one.value)
    return [
        {"system": system, "measure": measure, "context": context, "values": runs,
         "mean": statistics.fmean(runs), "deviation": statistics.stdev(runs) if len(runs) > 1 else None}
        for (system, measure, context), runs in found.items()
    ]  # fmt: skip


def rows_bars(values: Sequence[Value]) -> List[Value]:
    """Bars of every system: a panel for each metric, a bar for each context; one for the contrastive sets."""
    return [
        one._replace(measure=one.label, system=f"{one.place} context", place=one.system) if one.place
        else one._replace(measure="accuracy (%)", system=one.label, place=one.system)
        for one in values
        if one.measure != PENALTY and " - " not in one.place
    ]  # fmt: skip
