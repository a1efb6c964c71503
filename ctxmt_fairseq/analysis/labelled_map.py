"""A matrix with names on both sides, as a picture with files of its numbers beside it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.files import write_files
from ctxmt_fairseq.base.paths import Map, Picture
from ctxmt_fairseq.base.plots.heat_map import draw_heat_map
from ctxmt_fairseq.text.text_lines import PathLike


@dataclass(frozen=True)
class LabelledMap:
    """A matrix, such as the attention weights between tokens or vectors made of them, with its names.

    Attributes:
        values: (R, C) float64; NaN where there is none, which is null in JSON.
        rows, columns: R and C names, which may repeat.
        sections: names and widths of groups of columns, from left to right, C columns together.
    """

    title: str
    values: np.ndarray
    rows: List[str]
    columns: List[str]
    row_name: str
    column_name: str
    sections: Sequence[Tuple[str, int]] = ()
    value_name: str = "weight"

    def tsv(self) -> str:
        """A TSV table with a head, and names in the first column."""
        rows = [[self.row_name, *self.columns]]
        rows += ([name, *map("{:.6f}".format, row)] for name, row in zip(self.rows, self.values, strict=True))
        return "".join("\t".join(row) + "\n" for row in rows)

    def as_dict(self) -> Dict[str, Any]:
        return {
            "title": self.title,
            self.row_name: self.rows,
            self.column_name: self.columns,
            "sections": [{"name": name, "columns": width} for name, width in self.sections],
            "values": np.where(np.isnan(self.values), None, self.values).tolist(),
        }


def write_map(
    path: PathLike,
    labelled: LabelledMap,
    more: Optional[Dict[str, Any]] = None,
    annotate: bool = False,
    highest: Optional[float] = None,
) -> List[Path]:
    """Write FILE.png, and FILE.tsv and FILE.json with the numbers and ``more``; returns the files."""
    picture = draw_heat_map(labelled, annotate, highest)
    return write_picture(Map(str(path)), picture, labelled.tsv(), {**labelled.as_dict(), **(more or {})})


def write_picture(path: Picture, content: bytes, table: str, record: Dict[str, Any]) -> List[Path]:
    """Write a picture, and beside it a table and a JSON file, all or none; returns their paths."""
    path.check()
    files = list(map(Path, path.files()))
    written = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    write_files(zip(files, [content, table, written], strict=True))
    return files
