"""Markdown tables with a row for each system."""

import statistics
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from evidence.leads import Results
from evidence.systems import EVALUATED

Record = Dict[str, Any]  # a run's result
Values = Callable[[Record], Optional[float]]
Columns = Mapping[str, Tuple[Values, int]]  # heading: what of a result, with so many digits after the point


def averages(title: str, results: Results, columns: Columns, part: str = "") -> str:
    """Means over seeds of every system; with ``part``, of those whose results have it."""
    rows = [[name, seeds(ones), *means(ones, columns)] for name, ones in by_system(results, part)]
    return table([title, "seeds", *columns], rows)


def by_system(results: Results, part: str = "") -> List[Tuple[str, List[Record]]]:
    """Each row that has results, with those of its seeds; with ``part``, those that have it."""
    ours = {run: one for run, one in sorted(results.items()) if not part or part in one}
    found = [(name, [one for (row, _), one in ours.items() if row == name]) for name in EVALUATED]
    return [(name, ones) for name, ones in found if ones]


def means(ones: Sequence[Record], columns: Columns) -> List[str]:
    """Of a row's seeds: mean and, of several, the standard deviation; empty without any."""
    cells = []
    for value, digits in columns.values():
        values = [each for each in map(value, ones) if each is not None]
        spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
        cells.append(f"{statistics.mean(values):.{digits}f}{spread}" if values else "")
    return cells


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown; empty without rows."""
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def seeds(ones: Sequence[Record]) -> str:
    return ", ".join(str(one["seed"]) for one in ones)
