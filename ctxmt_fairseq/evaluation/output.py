"""How results leave the program: aligned tables, and files that are written whole or not at all."""

import os
from pathlib import Path
from typing import List, Sequence, Union

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.errors import BadInput


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


def write_whole(path: PathLike, content: Union[str, bytes]) -> None:
    """Write a file through a temporary sibling, so that it is never there half-written.

    Raises:
        BadInput: the file cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        os.replace(temporary, path)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", path) from None
    finally:
        temporary.unlink(missing_ok=True)
