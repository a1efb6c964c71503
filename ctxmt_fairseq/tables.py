"""Results as tables."""

import statistics
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple


def aligned_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells, the first row the head, as text: first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        return "  ".join(cells).rstrip()

    lines: List[str] = [line(row) for row in rows]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def mean_and_deviation(values: Sequence[float], digits: int = 2) -> str:
    """Mean and, of several values, the standard deviation of the sample; "-" of none."""
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{spread}"


def cross_table(
    values: Iterable[Tuple[Any, Any, float]],
    corner: str = "",
    cell: Callable[[Sequence[float]], str] = mean_and_deviation,
) -> List[List[str]]:
    """Cells from (row, column, value), in the order in which these appear; several may share a cell."""
    cells: Dict[Any, Dict[Any, List[float]]] = {}
    for row, column, value in values:
        cells.setdefault(row, {}).setdefault(column, []).append(value)
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    lines = [
        [_name(row), *(cell(found.get(column, [])) for column in columns)] for row, found in cells.items()
    ]
    return [[corner, *map(_name, columns)], *lines]


def records_table(records: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """A row for each record; of each column the head and how its cells are written, for ``str.format``."""
    rows = [[cell.format_map(record) for cell in columns.values()] for record in records]
    return aligned_table([list(columns), *rows])


def _name(key: Any) -> str:
    return key if isinstance(key, str) else f"{key:g}"
