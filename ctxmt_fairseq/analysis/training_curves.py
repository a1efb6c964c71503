"""Trainings side by side, from their logs: curves of validation, and what each training took."""

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.training_log import Record, TrainingLog
from ctxmt_fairseq.charts import Panel, Point
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.tables import aligned_table, mean_and_deviation

Systems = Mapping[str, Sequence[TrainingLog]]  # of each its runs
FIGURE_3 = ("current_loss", "current_context_ratio")  # of Lupo et al. 2022
AXES = ("epoch", "update")
_UNITS = {
    "loss": "bits per token",
    "nll_loss": "bits per token",
    "current_loss": "bits per token",
    "current_sentence_loss": "bits per sentence",
    "context_sentence_loss": "bits per sentence",
}


def named_with_unit(metric: str, subset: str) -> str:
    """A metric as an axis calls it."""
    unit = f" ({_UNITS[metric]})" if metric in _UNITS else ""
    return f"{metric}, {subset}{unit}"


def usual_metrics(systems: Systems, subset: str) -> List[str]:
    """The two of figure 3 (Lupo et al. 2022), or the loss where no training logged them."""
    known = {name for logs in systems.values() for log in logs for name in log.validated(subset)[-1].values}
    return [name for name in FIGURE_3 if name in known] or ["loss"]


def curves(systems: Systems, metrics: Sequence[str], subset: str, by: str) -> List[Panel]:
    """A panel for each metric: validations of every system, the mean of its runs.

    Args:
        subset: of the data, such as valid.
        by: epoch: the last validation in each epoch; update: every validation.

    Raises:
        BadInput: a metric that no training logged.
    """
    panels = []
    for metric in metrics:
        lines: Dict[str, Dict[Any, Point]] = {}
        for name, logs in systems.items():
            places: Dict[int, List[float]] = {}
            for log in logs:
                for place, record in _placed(log.validated(subset), by).items():
                    if metric in record.values:
                        places.setdefault(place, []).append(record.values[metric])
            if places:
                lines[name] = {place: Point.of_runs(places[place]) for place in sorted(places)}
        if not lines:
            known = {
                key for logs in systems.values() for log in logs for key in log.validated(subset)[-1].values
            }
            raise BadInput(f"--metrics {metric}: expected one of {', '.join(sorted(known))}")
        panels.append(Panel(named_with_unit(metric, subset), lines))
    return panels


def differing_losses(systems: Systems) -> Optional[str]:
    """A warning where the loss is not the same measure in all trainings; None where it is."""
    known = [log.criterion for logs in systems.values() for log in logs if log.criterion]
    names = dict.fromkeys(name for options in known for name in options if name != "report_accuracy")
    differ = [name for name in names if len({options.get(name) for options in known}) > 1]
    if not differ:
        return None

    def shown(log: TrainingLog) -> str:
        options = [(name, log.criterion[name]) for name in differ if name in log.criterion]
        return ", ".join(value if name == "_name" else f"{name} {value}" for name, value in options) or "?"

    found = [f"{name}: {' or '.join(dict.fromkeys(map(shown, logs)))}" for name, logs in systems.items()]
    return f"loss is not the same measure in all: {'; '.join(found)}"


def _placed(records: Sequence[Record], by: str) -> Dict[int, Record]:
    return {record.epoch if by == "epoch" else record.updates: record for record in records}


@dataclass(frozen=True)
class Effort:
    """What a training took until its best checkpoint.

    Attributes:
        metric: by which it is the best, and ``best`` its value.
        device_hours: of an epoch, see ``TrainingLog``; None: not in the log.
        epochs: validated in all; ``best_epoch`` and ``best_update`` say when the best one was.
    """

    run: str
    parameters: Optional[int]
    device_hours: Optional[float]
    epochs: int
    best_epoch: int
    best_update: int
    metric: str
    best: float

    @classmethod
    def of(cls, log: TrainingLog, subset: str, metric: Optional[str] = None) -> "Effort":
        """Of one training; ``metric`` as for ``TrainingLog.best``."""
        name, record = log.best(subset, metric)
        return cls(
            str(log.path), log.parameters, log.device_hours, log.validated(subset)[-1].epoch,
            record.epoch, record.updates, name, record.values[name],
        )  # fmt: skip


_Value = Callable[[Effort], Optional[float]]
_COLUMNS: List[Tuple[str, int, _Value]] = [
    ("hours per epoch", 3, lambda one: one.device_hours),
    ("epochs", 0, lambda one: one.epochs),
    ("best epoch", 0, lambda one: one.best_epoch),
    ("best update", 0, lambda one: one.best_update),
]


def efforts(systems: Systems, subset: str, metric: Optional[str] = None) -> Dict[str, List[Effort]]:
    """Of every run of every system."""
    return {name: [Effort.of(log, subset, metric) for log in logs] for name, logs in systems.items()}


def effort_table(found: Mapping[str, Sequence[Effort]]) -> str:
    """A row for each system (MTCue, table 3): means and standard deviations over its runs."""
    metrics = dict.fromkeys(one.metric for ones in found.values() for one in ones)
    rows = [["", "runs", "parameters", *(name for name, _, _ in _COLUMNS), *(f"best {m}" for m in metrics)]]
    for name, ones in found.items():
        sizes = dict.fromkeys("-" if one.parameters is None else f"{one.parameters:,}" for one in ones)
        cells = [
            mean_and_deviation(_known(map(value, ones)), digits if len(ones) == 1 else max(digits, 1))
            for _, digits, value in _COLUMNS
        ]
        best = [mean_and_deviation([one.best for one in ones if one.metric == each], 3) for each in metrics]
        rows.append([name, str(len(ones)), " / ".join(sizes), *cells, *best])
    return aligned_table(rows)


def _known(values: Any) -> List[float]:
    return [value for value in values if value is not None]
