"""Byte-pair encoding (Sennrich et al. 2016): reads files of merges, which subword-nmt applies.

A file of subword-nmt has ``#version: 0.2`` as its first line (0.1 or none if it is old) and a merge, ``a b``,
on every other line; one of fastBPE has ``a b COUNT`` on every line. fastBPE writes the end of a word as
subword-nmt 0.2 does, so its merges without their counts are a file of subword-nmt.
"""

import io
import re
from typing import Any, List

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

SEPARATOR = "@@"  # ends every piece of a word but its last one
_VERSION = re.compile(r"#version: (0\.[12])")


def load_codes(path: PathLike) -> Any:
    """Make subword-nmt's ``BPE`` with the merges of a file."""
    from subword_nmt.apply_bpe import (
        BPE,  # it ends the process at a bad line, so the lines are checked before
    )

    return BPE(io.StringIO("\n".join(_merges(path)) + "\n"), separator=SEPARATOR)


def _merges(path: PathLike) -> List[str]:
    """Read a file, and return the lines that subword-nmt shall read."""
    lines = [line.strip("\r ") for line in iterate_lines(path)]
    while lines and not lines[-1]:
        lines.pop()
    version = _VERSION.fullmatch(lines[0]) if lines else None
    if lines and lines[0].startswith("#version") and not version:
        raise BadInput(f"expected BPE codes of version 0.1 or 0.2, found {lines[0][:60]!r}", path, 1)
    first = 1 if version else 0
    if len(lines) == first:
        raise BadInput("expected BPE codes, a merge on each line, found none", path)
    columns = 3 if not version and len(lines[0].split(" ")) == 3 else 2
    merges = []
    for number, line in enumerate(lines[first:], first + 1):
        parts = line.split(" ")
        counted = len(parts) == 3 and parts[2].isascii() and parts[2].isdigit()
        if len(parts) != columns or not all(parts) or (columns == 3 and not counted):
            expected = "a merge and its count" if columns == 3 else "a merge"
            raise BadInput(f"expected BPE codes, {expected} on each line, found {line[:60]!r}", path, number)
        merges.append(" ".join(parts[:2]))
    return [f"#version: {version[1] if version else '0.2' if columns == 3 else '0.1'}", *merges]
