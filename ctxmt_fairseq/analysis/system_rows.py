"""Systems as rows of a table, with the mean and deviation over its runs (seeds): chapter 6 of the thesis."""

import statistics
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ctxmt_fairseq.charts import Panel, Point
from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.results import (
    TRAINED,
    TranslationName,
    find_results,
    main_accuracy,
    sentence_scores,
    suite_name,
)
from ctxmt_fairseq.tables import aligned_table, mean_and_deviation

REAL = "real"  # context as in training
PENALTY = "n"  # the length penalty that a search found
_CONTEXTS = {TRAINED: REAL, "document": REAL}


class Variant(NamedTuple):
    """How a system was evaluated; of each way it has a row."""

    decoding: str = "prefix"
    window: Optional[int] = None
    searched: bool = False

    @property
    def name(self) -> str:
        """What is not usual, to stand behind a system's name."""
        window = "" if self.window is None else f", windows of {self.window}"
        decoded = ", whole windows decoded" if self.decoding == "window" else ""
        return f"{window}{decoded}{', n opt' if self.searched else ''}"


class Column(NamedTuple):
    """A measure with a context; of contrastive sets the context is empty."""

    measure: str
    context: str = ""

    @property
    def name(self) -> str:
        return f"{self.measure}, {self.context}" if self.context else self.measure


@dataclass
class Rows:
    """Values of every row and column, one of each run.

    Attributes:
        counts: measure -> sentences or examples that it is of.
    """

    values: Dict[str, Dict[Column, List[float]]] = field(default_factory=dict)
    counts: Dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> List[Column]:
        """n first, then every measure with its contexts."""
        found = dict.fromkeys(column for row in self.values.values() for column in row)
        measures = list(dict.fromkeys(column.measure for column in found))
        return sorted(found, key=lambda column: (column.measure != PENALTY, measures.index(column.measure)))

    def add_run(self, name: str, path: PathLike, metrics: Sequence[str]) -> None:
        """A run of a system: what ``ctxmt evaluate``, ``score``, ``contrast`` or ``probe`` wrote.

        Args:
            path: results.json, or the folder with it; else a JSON file.
            metrics: of translations, in lower case.

        Raises:
            BadInput: something else, or of other lines than what was added before.
        """
        file = find_results(path)
        place, record = Place(file), load_json(file)
        run = _Run(place, metrics)
        for one in record if isinstance(record, list) and record else [record]:
            if not isinstance(one, dict):
                raise place.error("expected what ctxmt evaluate, score, contrast or probe wrote")
            if "translations" in one:
                run.read_evaluation(one)
            elif "contexts" in one:
                run.read_probe(one)
            elif "scores" in one:
                run.read_scores(Variant(), REAL, one)
            else:
                run.read_contrast(Variant(), get(place, one, "name", str), one)
        for measure, count in run.counts.items():
            if self.counts.setdefault(measure, count) != count:
                raise BadInput(f"expected {measure} of {self.counts[measure]} lines, found {count}", file)
        for variant, values in run.values.items():
            row = self.values.setdefault(name + variant.name, {})
            for column, value in {**values, **_differences(values)}.items():
                row.setdefault(column, []).append(value)


def _differences(values: Mapping[Column, float]) -> Dict[Column, float]:
    """Real minus random context, of every measure that has both."""
    return {
        Column(column.measure, f"{REAL} - random"): value - values[Column(column.measure, "random")]
        for column, value in values.items()
        if column.context == REAL and Column(column.measure, "random") in values
    }


class _Run:
    """What one file has."""

    def __init__(self, place: Place, metrics: Sequence[str]):
        self.place, self.metrics = place, metrics
        self.values: Dict[Variant, Dict[Column, float]] = {}
        self.counts: Dict[str, int] = {}

    def add(self, variant: Variant, column: Column, value: float, count: int) -> None:
        row = self.values.setdefault(variant, {})
        if column in row:
            raise self.place.error(f"expected one {column.name}{variant.name}, found several")
        if self.counts.setdefault(column.measure, count) != count:
            raise self.place.error(
                f"expected {column.measure} of {self.counts[column.measure]} lines, found {count}"
            )
        row[column] = value

    def read_evaluation(self, record: Dict[str, Any]) -> None:
        for name, content in get(self.place, record, "translations", dict).items():
            found = TranslationName.of(name)
            if found:
                variant = Variant(found.decoding, found.window, found.penalty is not None)
                self.read_scores(variant, _CONTEXTS.get(found.context, found.context), content)
                if found.penalty is not None:
                    self.values.setdefault(variant, {})[Column(PENALTY)] = found.penalty
        for name, report in get(self.place, record, "contrast", dict).items():
            suite, window = suite_name(name)
            for variant in [one for one in self.values if one.window == window] or [Variant(window=window)]:
                self.read_contrast(variant, suite, report)

    def read_scores(self, variant: Variant, context: str, content: Any) -> None:
        count = get(self.place, content, "sentences", int)
        for metric, score in sentence_scores(self.place, content):
            if metric in self.metrics:
                self.add(variant, Column(metric, context), score, count)

    def read_probe(self, record: Dict[str, Any]) -> None:
        count = get(self.place, record, "sentences", int)
        for one in get(self.place, record, "contexts", list):
            context = get(self.place, one, "context", str)
            for metric in self.metrics:
                if metric in one:
                    column = Column(metric, _CONTEXTS.get(context, context))
                    self.add(Variant(), column, get(self.place, one, metric, float), count)

    def read_contrast(self, variant: Variant, suite: str, report: Any) -> None:
        kind, accuracy = main_accuracy(self.place, report)
        self.add(variant, Column(f"{suite}, {kind}"), accuracy, get(self.place, report, "examples", int))


def rows_table(rows: Rows) -> str:
    """Mean and standard deviation of every row and column; how many values, where a run lacks it."""
    columns = rows.columns
    lines = [["", "runs", *(column.name for column in columns)]]
    for name, row in rows.values.items():
        runs = max(map(len, row.values()))
        cells = [mean_and_deviation(row.get(column, [])) for column in columns]
        fewer = [
            f" ({len(row[column])})" if 0 < len(row.get(column, [])) < runs else "" for column in columns
        ]
        lines.append([name, str(runs), *(cell + few for cell, few in zip(cells, fewer, strict=True))])
    return aligned_table(lines)


def rows_records(rows: Rows) -> List[Dict[str, Any]]:
    """Every row and column with the value of each run, for JSON."""
    return [
        {
            "system": name, "measure": column.measure, "context": column.context, "values": values,
            "mean": statistics.fmean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else None,
        }
        for name, row in rows.values.items()
        for column, values in row.items()
    ]  # fmt: skip


def rows_panels(rows: Rows) -> List[Panel]:
    """Bars of every system: a panel for each metric, a bar for each context; one for the contrastive sets."""
    panels: Dict[str, Dict[str, Dict[str, Point]]] = {}
    for column in rows.columns:
        if column.measure != PENALTY and " - " not in column.context:
            count = f"n = {rows.counts[column.measure]:,}"
            if column.context:
                title, series = f"{column.measure} (0 to 100), {count}", f"{column.context} context"
            else:
                title, series = "accuracy (%)", f"{column.measure}, {count}"
            panels.setdefault(title, {})[series] = {
                name: Point.of_runs(row[column]) for name, row in rows.values.items() if column in row
            }
    return [Panel(title, series) for title, series in panels.items()]
