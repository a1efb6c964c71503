"""The results of the runs: a JSON file each, whole or not at all."""

import json
from pathlib import Path
from typing import Any, Dict

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_file
from ctxmt_fairseq.text.json_files import load_json
from evidence.leads import Results
from evidence.workplace import Workplace, called

TRAINING = ("row", "seed", "learning_curve", "cpu_seconds")  # what every result has


def read_all(folder: Path) -> Results:
    """Every result of the folder, by row and seed.

    Raises:
        BadInput: a file is none, or another run's.
    """
    records = map(read, sorted(folder.glob("*.[0-9]*.json")))
    return {(record["row"], record["seed"]): record for record in records}


def read(path: Path) -> Dict[str, Any]:
    """A run's result.

    Raises:
        BadInput: the file is none, or another run's.
    """
    record = load_json(path)
    lacking = [key for key in TRAINING if not isinstance(record, dict) or key not in record]
    if lacking:
        raise BadInput(f"expected a run's result, with {', '.join(lacking)}", path)
    name = called(record["row"], record["seed"])
    if name != path.stem:
        raise BadInput(f"expected the result of {path.stem}, found that of {name}", path)
    return record


def write(place: Workplace, path: Path, record: Dict[str, Any]) -> None:
    """A run's result, without this machine's own paths."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, place.masked(json.dumps(record, indent=1, ensure_ascii=False)) + "\n")
