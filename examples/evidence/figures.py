"""The pictures of docs/results/tables.md, from the results alone."""

from pathlib import Path
from typing import Any, Dict, List

from ctxmt_fairseq.base.files import write_files
from ctxmt_fairseq.base.plots.charts import Point, draw_chart, points_of_runs
from evidence.leads import Results
from evidence.systems import SYSTEMS
from evidence.texts import SUBTITLES

CONTEXTS = {"document": "own context", "random": "random context"}


def write(folder: Path, results: Results) -> None:
    """``accuracy.svg`` and ``learning.svg``, of what was run on the subtitles; one control suffices."""
    rows: Dict[str, List[Dict[str, Any]]] = {}
    for row, system in SYSTEMS.items():
        found = [one for (name, _), one in sorted(results.items()) if name == row]
        if found and system.text == SUBTITLES and system.amp:
            rows[row] = found
    second = {row: found for row, found in rows.items() if SYSTEMS[row].stage == "context"}
    pictures = ("accuracy.svg", accuracy(rows)), ("learning.svg", learning(second))
    write_files((folder / name, content) for name, content in pictures)


def accuracy(rows: Dict[str, List[Dict[str, Any]]]) -> bytes:
    """Pronouns by system, with its own and with random context: the seeds' mean, lowest and highest."""
    examples = {len(one["pronouns"]["document"]["decisions"]) for found in rows.values() for one in found}
    measure = f"right pronouns in % (n = {', '.join(f'{count:,}' for count in sorted(examples))})"
    values = [
        Point(measure, called, row, one["pronouns"][context]["accuracy"])
        for context, called in CONTEXTS.items()
        for row, found in rows.items()
        for one in found
        if context in one.get("pronouns", {})
    ]
    return draw_chart(points_of_runs(values), "system", bars=True, bases={measure: 50}, kind="svg")


def learning(rows: Dict[str, List[Dict[str, Any]]]) -> bytes:
    """Label-smoothed validation loss of the current sentences by update of the second stage."""
    values = [
        Point("validation loss (bits per subword)", row, place["updates"], place["loss"])
        for row, found in rows.items()
        for one in found
        for place in one["learning_curve"]
    ]
    return draw_chart(points_of_runs(values), "update of the second stage", kind="svg")
