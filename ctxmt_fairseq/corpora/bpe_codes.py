"""Byte-pair encoding (Sennrich et al. 2016): files of merges, which subword-nmt applies.

Read are the files of subword-nmt, whose first line is ``#version: 0.2`` (0.1 or none in old ones) and every
other line a merge, ``a b``; and those of fastBPE, ``a b COUNT`` without a first line of its own. fastBPE
writes the end of a word as subword-nmt 0.2 does, so its merges without their counts are such a file.
"""

import io
import re
from typing import Any, List

from ctxmt_fairseq.data.text_lines import PathLike, iterate_lines
from ctxmt_fairseq.errors import BadInput

SEPARATOR = "@@"  # at the end of every piece but a word's last one
_VERSION = re.compile(r"#version: (0\.[12])")


def load_codes(path: PathLike) -> Any:
    """subword-nmt's ``BPE`` with the merges of a file.

    Raises:
        BadInput: no such file, or a line that is no merge.
    """
    from subword_nmt.apply_bpe import BPE  # which ends the process at a line that it does not like

    return BPE(io.StringIO("\n".join(_merges(path)) + "\n"), separator=SEPARATOR)


def _merges(path: PathLike) -> List[str]:
    """The lines of a file as subword-nmt is to read them."""
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
