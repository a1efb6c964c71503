"""Results as tables."""

from typing import List, Sequence


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
