"""The metadata of a split, line by line: PREFIX.meta.jsonl, and files PREFIX.meta.FIELD, a value per line."""

import glob
import json
from pathlib import Path
from typing import Dict, Iterator, Tuple

from ctxmt_fairseq.corpora.text_rows import Row, TextFiles
from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.errors import BadInput

_JSON = "jsonl"


def field_files(prefix: str) -> Dict[str, Path]:
    """field -> its file PREFIX.meta.FIELD, sorted; a name that ends with ~ is an editor's backup."""
    start = f"{prefix}.meta."
    paths = {path[len(start) :]: Path(path) for path in sorted(glob.glob(glob.escape(start) + "*"))}
    return {field: path for field, path in paths.items() if field != _JSON and not field.endswith("~")}


def rows_with_metadata(files: TextFiles) -> Iterator[Tuple[Row, Dict[str, str]]]:
    """The rows of a split, each with its metadata: field -> value, blank values left out.

    Raises:
        BadInput: as ``TextFiles.rows``; a field's file with another number of lines than the text; a field
            both in its own file and in PREFIX.meta.jsonl.
    """
    paths = field_files(files.prefix)
    columns = {field: iterate_lines(path) for field, path in paths.items()}
    read = 0
    for row in files.rows():
        values: Dict[str, str] = json.loads(row.meta or "{}")  # checked when it was read
        for field, column in columns.items():
            value = None
            for _ in range(row.line - read):  # with blank lines between documents, lines are passed over
                value = next(column, None)
            if value is None:
                raise BadInput("ends before the text does", paths[field], row.line)
            if field in values:
                name = files.path("meta.jsonl").name
                raise BadInput(f"the field {field} is in {name} too", paths[field], row.line)
            values[field] = value
        read = row.line
        yield row, {field: value for field, value in values.items() if value.strip()}
    for field, column in columns.items():
        if any(value.strip() for value in column):
            raise BadInput(f"goes on after the {read} lines of the text", paths[field])
