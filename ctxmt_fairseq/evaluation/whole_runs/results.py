"""All results of a folder as one JSON object, and those of several folders as a table."""

import json
from pathlib import Path
from typing import Any, Dict, Mapping, Sequence

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.tables import aligned_table

RESULTS = "results.json"


def collect(folder: Path, scores: Sequence[str], contrasts: Sequence[str]) -> Dict[str, Any]:
    """The content of a folder's results, by name without their endings."""
    found: Dict[str, Any] = {"translations": {}, "contrast": {}}
    for kind, names, ending in (
        ("translations", scores, ".score.json"),
        ("contrast", contrasts, ".contrast.json"),
    ):
        for name in names:
            content = json.loads((folder / name).read_text(encoding="utf-8"))
            found[kind][name.removesuffix(ending)] = content
    return found


def read_results(folder: Path) -> Dict[str, Any]:
    """What ``ctxmt evaluate`` wrote to a folder.

    Raises:
        BadInput: there is no such file, or it holds something else.
    """
    path = folder / RESULTS
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        measures(results)
    except OSError as error:
        raise BadInput(f"{error.strerror}; expected what ctxmt evaluate writes", path) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadInput("expected what ctxmt evaluate writes", path) from None
    return results


def measures(results: Mapping[str, Any]) -> Dict[str, float]:
    """Row of the table -> number."""
    rows: Dict[str, float] = {}
    for name, scores in results["translations"].items():
        for score in scores["scores"]:
            if score["level"] == "sentence":
                rows[f"{score['name']}, {name}"] = float(score["score"])
    for name, report in results["contrast"].items():
        rows[f"{name}, accuracy ({report['convention']})"] = float(report["accuracy"])
        for group, label in (("phenomena", ""), ("distances", "distance ")):
            if len(report[group]) > 1:
                for key, tally in report[group].items():
                    rows[f"{name}, {label}{key}"] = float(tally["accuracy"])
        for key, label in (("disc", "Disc."), ("disc_avg", "Disc_avg"), ("disc_all_d", "Disc_all-d")):
            if report[key] is not None:
                rows[f"{name}, {label}"] = float(report[key])
    return rows


def results_table(columns: Mapping[str, Mapping[str, Any]]) -> str:
    """A row for each measure, a column for each name."""
    numbers = {name: measures(results) for name, results in columns.items()}
    rows = dict.fromkeys(row for column in numbers.values() for row in column)
    cells = [[f"{column[row]:.2f}" if row in column else "-" for column in numbers.values()] for row in rows]
    return aligned_table([["", *columns], *([row, *line] for row, line in zip(rows, cells, strict=True))])
