"""A matrix with names on both sides."""

from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np


@dataclass(frozen=True)
class LabelledMap:
    """A matrix, such as the attention weights between tokens or vectors made of them, with its names.

    Attributes:
        values: (R, C) float64.
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
            "values": self.values.tolist(),
        }
