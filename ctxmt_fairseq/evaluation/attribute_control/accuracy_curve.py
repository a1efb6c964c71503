"""Accuracy against the number of annotated examples, a line for each system (MTCue, figure 4)."""

import io
from dataclasses import dataclass
from typing import Dict, List, Sequence, Union

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.evaluation.attribute_control.outcomes import mean, percent
from ctxmt_fairseq.tables import aligned_table

ALL = "all"
Count = Union[int, str]  # examples per combination, or ALL
STEP = 4.0  # on the logarithmic axis, from the outermost numbers to "zero-shot" and "all"


@dataclass(frozen=True)
class Result:
    """A system's accuracy, in percent, in one few-shot setting."""

    system: str
    count: Count
    accuracy: float


def read_result(path: PathLike) -> Result:
    """What ``ctxmt control attributes`` or ``formality`` wrote with --setting.

    Raises:
        BadInput: something else, or a result without accuracy.
    """
    place = Place(path)
    record = load_json(path)
    system = get(place, record, "system", str)
    if record.get("setting") is None:
        raise place.error("expected the result of a few-shot setting, evaluated with --setting")
    setting = get(place, record, "setting", dict)
    count: Count = ALL if setting.get("count") == ALL else get(place, setting, "count", int)
    if count != ALL and _order(count) < 0:
        raise place.error(f"expected 0 or more at the setting's key 'count', found {count}")
    accuracy = record.get("accuracy")
    if not isinstance(accuracy, float):
        raise place.error("expected an accuracy, found none: no translation had one of the forms")
    return Result(system, count, accuracy)


def curves(results: Sequence[Result]) -> Dict[str, Dict[Count, List[float]]]:
    """System -> count -> accuracies (of several seeds, say); counts in ascending order."""
    lines: Dict[str, Dict[Count, List[float]]] = {}
    for result in sorted(results, key=lambda result: _order(result.count)):
        lines.setdefault(result.system, {}).setdefault(result.count, []).append(result.accuracy)
    return lines


def _order(count: Count) -> float:
    return float("inf") if isinstance(count, str) else count


def table(results: Sequence[Result]) -> str:
    """Mean accuracies, a row per count and a column per system; with several results also their range."""
    lines = curves(results)
    counts = sorted({result.count for result in results}, key=_order)
    rows = [["examples per combination", *lines]]
    for count in counts:
        rows.append([str(count), *(_cell(line.get(count, [])) for line in lines.values())])
    return aligned_table(rows)


def _cell(accuracies: List[float]) -> str:
    spread = f" ({min(accuracies):.2f} to {max(accuracies):.2f})" if len(accuracies) > 1 else ""
    return percent(mean(accuracies)) + spread


def places(counts: Sequence[Count]) -> List[float]:
    """Where counts stand on a logarithmic axis: 0 to the left of the others, ALL to the right.

    Args:
        counts: distinct, in ascending order.
    """
    numbers = [count for count in counts if isinstance(count, int) and count > 0] or [1]
    ends: Dict[Count, float] = {0: numbers[0] / STEP, ALL: numbers[-1] * STEP}
    return [ends[count] if count in ends else float(count) for count in counts]


def picture(results: Sequence[Result]) -> bytes:
    """The curves as the content of a PNG file; bars are the range of several results."""
    from matplotlib.figure import Figure

    counts = sorted({result.count for result in results}, key=_order)
    place = dict(zip(counts, places(counts), strict=True))
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    for system, line in curves(results).items():
        where = [place[count] for count in line]
        (drawn,) = axes.plot(
            where,
            [sum(each) / len(each) for each in line.values()],
            marker="o",
            label=system.replace("$", r"\$"),
        )
        axes.vlines(
            where, list(map(min, line.values())), list(map(max, line.values())), color=drawn.get_color()
        )
    axes.set_xticks(list(place.values()), ["zero-shot" if count == 0 else str(count) for count in counts])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="annotated examples per combination", ylabel="accuracy (%)")
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()
