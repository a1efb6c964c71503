"""Accuracy against the number of annotated examples, a line for each system (MTCue, figure 4)."""

from typing import Any, List, Sequence

from ctxmt_fairseq.analysis.side_by_side import Value
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.evaluation.attribute_control.judging import mean, percent
from ctxmt_fairseq.tables import aligned_table, cross_table

ALL = "all"


def read_result(path: PathLike) -> Value:
    """What ``ctxmt control attributes`` or ``formality`` wrote with --setting; places are counts, or "all".

    Raises:
        BadInput: something else, or a result without accuracy.
    """
    place, record = Place(path), load_json(path)
    system = get(place, record, "system", str)
    if record.get("setting") is None:
        raise place.error("expected the result of a few-shot setting, evaluated with --setting")
    setting = get(place, record, "setting", dict)
    count: Any = ALL if setting.get("count") == ALL else get(place, setting, "count", int)
    if count != ALL and count < 0:
        raise place.error(f"expected 0 or more at the setting's key 'count', found {count}")
    accuracy = record.get("accuracy")
    if not isinstance(accuracy, float):
        raise place.error("expected an accuracy, found none: no translation had one of the forms")
    return Value(system, "accuracy (%)", count, accuracy)


def by_count(results: Sequence[Value]) -> List[Value]:
    """In ascending order of the counts, by which places are called."""
    ordered = sorted(results, key=lambda one: float("inf") if one.place == ALL else one.place)
    return [one._replace(place=str(one.place)) for one in ordered]


def table(results: Sequence[Value]) -> str:
    """Mean accuracies, a row per count and a column per system; with several results also their range."""
    cells = ((one.place, one.system, one.value) for one in by_count(results))
    return aligned_table(cross_table(cells, "examples per combination", _cell))


def _cell(accuracies: Sequence[float]) -> str:
    spread = f" ({min(accuracies):.2f} to {max(accuracies):.2f})" if len(accuracies) > 1 else ""
    return percent(mean(accuracies)) + spread
