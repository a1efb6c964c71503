"""Scores with windows of other sizes than the trained: figure 4 of Lupo et al. (2022)."""

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

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


@dataclass
class WindowScores:
    """One model's scores by window size.

    Attributes:
        trained: sentences of a window in training.
        scores: measure -> sentences of a window -> score, 0 to 100.
        counts: measure -> sentences or examples that it is of.
    """

    path: Path
    trained: int
    scores: Dict[str, Dict[int, float]] = field(default_factory=dict)
    counts: Dict[str, int] = field(default_factory=dict)

    def add(self, measure: str, size: int, score: float, count: int) -> None:
        """Raises BadInput: it is there already, or of another text."""
        if size in self.scores.setdefault(measure, {}):
            raise BadInput(f"expected one {measure} with windows of {size}, found several", self.path)
        if self.counts.setdefault(measure, count) != count:
            raise BadInput(
                f"expected {measure} of one text, found {self.counts[measure]} and {count}", self.path
            )
        self.scores[measure][size] = score


def read_window_scores(path: PathLike, metric: str = "bleu", decoding: Optional[str] = None) -> WindowScores:
    """What ``ctxmt evaluate`` (called with several --window) or ``ctxmt probe --json`` wrote of a model.

    Args:
        path: results.json, a folder with it or with ``evaluation`` in it, or a probe's JSON file.
        metric: of translations, such as bleu or chrf2. Accuracies on contrastive sets are read as well.
        decoding: prefix or window; None: the one that there is.

    Raises:
        BadInput: another file, or no translation with the metric.
    """
    path = find_results(path)
    place, record = Place(path), load_json(path)
    if isinstance(record, dict) and "sizes" in record:
        found = _of_probe(place, record, metric)
    else:
        found = _of_evaluation(place, record, metric, decoding)
    if not found.scores:
        raise place.error(f"expected translations with {metric}, found none")
    return found


def _of_probe(place: Place, record: Any, metric: str) -> WindowScores:
    options = get(place, record, "options", dict)
    sides = [side for side in ("source_context", "target_context") if side in options]
    trained = 1 + max((get(place, options, side, int, null=True) or 0 for side in sides), default=0)
    found = WindowScores(Path(str(place.path)), trained)
    for entry in get(place, record, "sizes", list):
        size = get(place, entry, "size", int) + 1
        if metric in entry:
            found.add(metric, size, get(place, entry, metric, float), get(place, record, "sentences", int))
    return found


def _of_evaluation(place: Place, record: Any, metric: str, decoding: Optional[str]) -> WindowScores:
    translations = get(place, record, "translations", dict)
    found = WindowScores(Path(str(place.path)), get(place, record, "trained_window", int))
    named = [(TranslationName.of(name), content) for name, content in translations.items()]
    trained = [(name, content) for name, content in named if name and name.context == TRAINED]
    decodings = {name.decoding for name, _ in trained}
    if decoding is None and len(decodings) > 1:
        raise place.error(f"--decoding: expected one of {', '.join(sorted(decodings))}")
    for name, content in trained:
        if decoding in (None, name.decoding):
            count = get(place, content, "sentences", int)
            for measure, score in sentence_scores(place, content):
                if measure == metric:
                    found.add(metric, name.window or found.trained, score, count)
    for suite, report in get(place, record, "contrast", dict).items():
        own, size = suite_name(suite)
        label, accuracy = main_accuracy(place, report)
        found.add(f"{own}, {label}", size or found.trained, accuracy, get(place, report, "examples", int))
    return found


Systems = Mapping[str, Sequence[WindowScores]]  # of each its runs


def measures_of(systems: Systems) -> Dict[str, int]:
    """Measure -> number of sentences or examples.

    Raises:
        BadInput: it is not the same for all, or runs of a system were trained with different windows.
    """
    counts: Dict[str, int] = {}
    for name, runs in systems.items():
        if len({run.trained for run in runs}) > 1:
            raise BadInput(f"{name}: expected runs that were trained with the same windows")
        for run in runs:
            for measure, count in run.counts.items():
                if counts.setdefault(measure, count) != count:
                    raise BadInput(f"expected {measure} of {counts[measure]} lines, found {count}", run.path)
    return counts


def _values(runs: Sequence[WindowScores], measure: str) -> Dict[int, List[float]]:
    sizes = sorted({size for run in runs for size in run.scores.get(measure, {})})
    return {size: [run.scores[measure][size] for run in runs if size in run.scores.get(measure, {})]
            for size in sizes}  # fmt: skip


def window_panels(systems: Systems) -> List[Panel]:
    """A panel for each measure: scores of every system by sentences of a window."""
    panels = []
    for measure, count in measures_of(systems).items():
        lines = {
            f"{name} (trained: {runs[0].trained})": {
                size: Point.of_runs(values) for size, values in _values(runs, measure).items()
            }
            for name, runs in systems.items()
            if _values(runs, measure)
        }
        panels.append(Panel(f"{measure} (0 to 100), n = {count:,}", lines))
    return panels


def window_table(systems: Systems) -> str:
    """Scores by window size, with their difference from that of the trained size."""
    sizes = sorted({size for runs in systems.values() for run in runs for line in run.scores.values()
                    for size in line})  # fmt: skip
    rows = [["", "system", "trained", *(f"windows of {size}" for size in sizes)]]
    for measure, count in measures_of(systems).items():
        for name, runs in systems.items():
            values = _values(runs, measure)
            if values:
                cells = [_cell(values, size, runs[0].trained) for size in sizes]
                rows.append([f"{measure}, n = {count:,}", name, str(runs[0].trained), *cells])
    return aligned_table(rows)


def _cell(values: Mapping[int, Sequence[float]], size: int, trained: int) -> str:
    if size not in values:
        return "-"
    score = mean_and_deviation(values[size])
    if size == trained or trained not in values:
        return score
    return f"{score} ({statistics.fmean(values[size]) - statistics.fmean(values[trained]):+.2f})"
