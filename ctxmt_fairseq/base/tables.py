"""Results as tables, and as CSV."""

import csv
import io
import re
import statistics
from contextvars import ContextVar
from typing import Any, Iterable, List, Mapping, Sequence

# How a command prints its tables.
STYLE: ContextVar[str] = ContextVar("style of tables", default="text")


def aligned_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells in the chosen ``STYLE``, the head first, the first column flush left, others right."""
    return _STYLES[STYLE.get()](rows)


def remark(text: str) -> str:
    """What stands beside tables, in LaTeX and CSV as comments."""
    mark = _COMMENTS.get(STYLE.get())
    return re.sub("(?m)^(?=.)", mark, text) if mark else text


def _text(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *others = row
        cells = first.ljust(widths[0]), *map(str.rjust, others, widths[1:])
        return "  ".join(cells).rstrip()

    lines: List[str] = [line(row) for row in rows]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(re.sub(r"([|*\\])", r"\\\1", cell) for cell in row) + " |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
    return "\n".join(lines)


def _latex(rows: Sequence[Sequence[str]]) -> str:
    """For the package booktabs."""
    head, *body = [" & ".join(map(_latex_cell, row)) + r" \\" for row in rows]
    columns = "l" + "r" * (len(rows[0]) - 1)
    begin = rf"\begin{{tabular}}{{{columns}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"])


def _latex_cell(cell: str) -> str:
    cell = re.sub(r"[\\{}$&#%_^~|<>]", lambda found: _NAMED.get(found[0], "\\" + found[0]), cell)
    cell = cell.replace("±", r"$\pm$").replace("−", "$-$")
    cell = re.sub(r"(?<![\w.])-(?=\d)", "$-$", cell)
    return re.sub(r"(?<!\*)(\*+)$", r"$^{\1}$", cell)


def _csv(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().removesuffix("\n")


# What LaTeX prints by a name alone; before other signs a backslash is enough.
_NAMED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_COMMENTS = {"latex": "% ", "csv": "# "}
_STYLES = {"text": _text, "markdown": _markdown, "latex": _latex, "csv": _csv}


def mean_and_deviation(values: Sequence[float], digits: int = 2, sign: str = "") -> str:
    """The mean (with a "+", if ``sign`` is), for several values with their deviation; "-" for none."""
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):{sign}.{digits}f}{spread}"


def records_table(records: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """A table with a row for each record; ``columns`` maps a head to the format of its cells."""
    rows = [[cell.format_map(record) for cell in columns.values()] for record in records]
    return aligned_table([list(columns), *rows])


def csv_text(records: Sequence[Mapping[str, Any]], dialect: str = "excel") -> str:
    """Records with the same keys as CSV, or TSV (dialect ``excel-tab``); None becomes an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], dialect=dialect, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
