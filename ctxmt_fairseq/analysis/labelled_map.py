"""A matrix with names on both sides."""

from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np


@dataclass(frozen=True)
class LabelledMap:
    """Numbers such as the weights that tokens, or vectors made of them, have for each other.

    Attributes:
        title: what is shown.
        values: (R, C) float64.
        rows, columns: R and C names, not always distinct.
        row_name, column_name: what the rows and the columns are.
        sections: names and widths of runs of columns, left to right; C columns together.
        value_name: what the values are.
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
        """A table with a head and a first column of names."""
        lines = ["\t".join([self.row_name, *self.columns])]
        for name, values in zip(self.rows, self.values, strict=True):
            lines.append("\t".join([name, *(f"{value:.6f}" for value in values)]))
        return "".join(line + "\n" for line in lines)

    def as_dict(self) -> Dict[str, Any]:
        return {
            "title": self.title,
            self.row_name: self.rows,
            self.column_name: self.columns,
            "sections": [{"name": name, "columns": width} for name, width in self.sections],
            "values": self.values.tolist(),
        }
