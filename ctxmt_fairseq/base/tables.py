"""Results as tables, and as CSV."""

import csv
import io
import statistics
from typing import Any, Iterable, List, Mapping, Sequence


def aligned_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text, with a line below the head; the first column is flush left, others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        return "  ".join(cells).rstrip()

    lines: List[str] = [line(row) for row in rows]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def mean_and_deviation(values: Sequence[float], digits: int = 2, sign: str = "") -> str:
    """The mean and, for several values, the standard deviation of the sample; "-" for none.

    Args:
        sign: "+" also writes the sign of a positive mean.
    """
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):{sign}.{digits}f}{spread}"


def records_table(records: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """A table with a row for each record; ``columns`` maps a head to the format of its cells."""
    rows = [[cell.format_map(record) for cell in columns.values()] for record in records]
    return aligned_table([list(columns), *rows])


def csv_text(records: Sequence[Mapping[str, Any]], dialect: str = "excel") -> str:
    """Records with the same keys as CSV, or as TSV with the dialect ``excel-tab``; None becomes an empty
    cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], dialect=dialect, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
