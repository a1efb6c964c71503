"""Collects every FOLDER's *.score.json and *.contrast.json into one table and FOLDER/results.json.

Usage: python results.py FOLDER...      one column per folder, named after it (NAME=FOLDER gives another name)
"""

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

from ctxmt_fairseq.output_files import write_file
from ctxmt_fairseq.tables import aligned_table


def read(folder: Path, kind: str) -> Dict[str, Any]:
    """File name without ``.KIND.json`` -> content, the oldest first; each element of a list by its name."""
    found: Dict[str, Any] = {}
    for path in sorted(folder.glob(f"*.{kind}.json"), key=lambda path: path.stat().st_mtime_ns):
        name, content = path.name[: -len(f".{kind}.json")], json.loads(path.read_text(encoding="utf-8"))
        several = isinstance(content, list)
        found.update({f"{name}, {one['name']}": one for one in content} if several else {name: content})
    return found


def collect(folder: Path) -> Dict[str, Any]:
    """One evaluation.

    Raises:
        SystemExit: the folder holds no result.
    """
    results = {"translations": read(folder, "score"), "contrast": read(folder, "contrast")}
    if not any(results.values()):
        sys.exit(f"error: {folder}: expected *.score.json or *.contrast.json")
    return results


def measures(results: Dict[str, Any]) -> Dict[str, float]:
    """Row of the table -> number."""
    rows = {}
    for name, scores in results["translations"].items():
        for score in scores["scores"]:
            if score["level"] == "sentence":
                rows[f"{score['name']}, {name}"] = score["score"]
    for name, report in results["contrast"].items():
        rows[f"{name}, accuracy ({report['convention']})"] = report["accuracy"]
        for group in ("phenomena", "distances"):
            if len(report[group]) > 1:
                label = "distance " if group == "distances" else ""
                rows.update({f"{name}, {label}{key}": t["accuracy"] for key, t in report[group].items()})
        for key, label in (("disc", "Disc."), ("disc_avg", "Disc_avg"), ("disc_all_d", "Disc_all-d")):
            if report[key] is not None:
                rows[f"{name}, {label}"] = report[key]
    return rows


def main(arguments: List[str]) -> None:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit(__doc__)
    columns = {}
    for argument in arguments:
        name, _, path = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
        folder = Path(path)
        results = collect(folder)
        write_file(folder / "results.json", json.dumps(results, indent=2) + "\n")
        columns[name or folder.name] = measures(results)
    rows = dict.fromkeys(row for column in columns.values() for row in column)
    table = [["", *columns]]
    for row in rows:
        numbers = [f"{column[row]:.2f}" if row in column else "-" for column in columns.values()]
        table.append([row, *numbers])
    print(aligned_table(table))


if __name__ == "__main__":
    main(sys.argv[1:])
