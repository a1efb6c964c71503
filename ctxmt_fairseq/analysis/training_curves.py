"""Compares trainings by their logs: curves of validation, and what each training took."""

from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ctxmt_fairseq.analysis.training_log import TrainingLog
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.tables import aligned_table, mean_and_deviation

Systems = Mapping[str, Sequence[TrainingLog]]  # system -> its runs
FIGURE_3 = ("current_loss", "current_context_ratio")  # of Lupo et al. 2022
_UNITS = {
    "loss": "bits per token",
    "nll_loss": "bits per token",
    "current_loss": "bits per token",
    "current_sentence_loss": "bits per sentence",
    "context_sentence_loss": "bits per sentence",
}


def named_with_unit(metric: str, subset: str) -> str:
    """The name of a metric on an axis."""
    unit = f" ({_UNITS[metric]})" if metric in _UNITS else ""
    return f"{metric}, {subset}{unit}"


def known_metrics(systems: Systems, subset: str) -> List[str]:
    """The metrics that any training logged at its last validation."""
    last = (log.validated(subset)[-1].values for logs in systems.values() for log in logs)
    return sorted(set().union(*last))


def curves(systems: Systems, metric: str, subset: str, by: str) -> Iterator[Point]:
    """The points of validations on a subset, for every run of every system; by "epoch" the last in each."""
    known = known_metrics(systems, subset)
    if metric not in known:
        raise BadInput(f"--metrics {metric}: expected one of {', '.join(known)}")
    for system, logs in systems.items():
        values = [
            Point(named_with_unit(metric, subset), system, place, record.values[metric])
            for log in logs
            for place, record in {getattr(record, by): record for record in log.validated(subset)}.items()
            if metric in record.values
        ]
        yield from sorted(values, key=lambda one: one.place)


def differing_losses(systems: Systems) -> Optional[str]:
    """A warning if the loss is not the same measure in all trainings; None if it is."""
    known = [log.loss_kind for logs in systems.values() for log in logs if log.loss_kind]
    names = dict.fromkeys(name for options in known for name in options)
    differ = [name for name in names if len({options.get(name) for options in known}) > 1]
    if not differ:
        return None

    def shown(log: TrainingLog) -> str:
        options = [(name, log.loss_kind[name]) for name in differ if name in log.loss_kind]
        return ", ".join(value if name == "_name" else f"{name} {value}" for name, value in options) or "?"

    found = [f"{name}: {' or '.join(dict.fromkeys(map(shown, logs)))}" for name, logs in systems.items()]
    return f"loss is not the same measure in all: {'; '.join(found)}"


def efforts(systems: Systems, subset: str) -> List[Dict[str, Any]]:
    """What every run of every system took until its best checkpoint, for JSON: that with the ``best`` value
    of the metric, of so many validated epochs; ``device_hours`` are those of an epoch (``TrainingLog``)."""
    found = []
    for system, log in ((system, log) for system, logs in systems.items() for log in logs):
        metric, best = log.best(subset)
        found.append(
            {"system": system, "run": str(log.path), "parameters": log.parameters,
             "device_hours": log.device_hours, "epochs": log.validated(subset)[-1].epoch,
             "best_epoch": best.epoch, "best_update": best.updates, "metric": metric,
             "best": best.values[metric]}
        )  # fmt: skip
    return found


def effort_table(found: Sequence[Mapping[str, Any]]) -> str:
    """A table with a row for each system (MTCue, table 3): means and standard deviations over its runs."""
    columns = {"hours per epoch": "device_hours", "epochs": "epochs", "best epoch": "best_epoch",
               "best update": "best_update"}  # fmt: skip
    metrics = dict.fromkeys(one["metric"] for one in found)
    rows = [["", "runs", "parameters", *columns, *(f"best {metric}" for metric in metrics)]]
    for system, runs in grouped((one["system"], one) for one in found).items():
        parameters = [one["parameters"] for one in runs]
        sizes = dict.fromkeys("-" if size is None else f"{size:,}" for size in parameters)
        rows.append([system, str(len(runs)), " / ".join(sizes)])
        for name in columns.values():
            digits = 3 if name == "device_hours" else int(len(runs) > 1)
            values = [one[name] for one in runs]
            rows[-1].append(mean_and_deviation([value for value in values if value is not None], digits))
        best = ([one["best"] for one in runs if one["metric"] == metric] for metric in metrics)
        rows[-1] += [mean_and_deviation(values, 3) for values in best]
    return aligned_table(rows)
