"""Byte-pair encoding (Sennrich et al. 2016): reads files of merges, which subword-nmt applies.

A file of subword-nmt has ``#version: 0.2`` as its first line (0.1 or none if it is old) and a merge, ``a b``,
on every other line; one of fastBPE has ``a b COUNT`` on every line. fastBPE writes the end of a word as
subword-nmt 0.2 does, so its merges without their counts are a file of subword-nmt.

Codes that were learned from two languages together are applied with a vocabulary of each (``PIECE COUNT`` on
every line, of subword-nmt or fastBPE; a dictionary of fairseq's is one, too). Merges that made a piece which
it lacks, or has too seldom, are undone.
"""

import io
import re
from typing import Any, List, Optional, Set

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

SEPARATOR = "@@"  # ends every piece of a word but its last one
_VERSION = re.compile(r"#version: (0\.[12])")


def load_codes(path: PathLike, vocabulary: Optional[PathLike] = None, threshold: int = 0) -> Any:
    """Make subword-nmt's ``BPE`` with the merges of a file; with a vocabulary only its pieces come out, those
    that it has at least ``threshold`` times."""
    from subword_nmt.apply_bpe import BPE

    # It ends the process at a bad line, so the lines are checked before.
    known = None if vocabulary is None else _frequent(vocabulary, threshold)
    return BPE(io.StringIO("\n".join(_merges(path)) + "\n"), separator=SEPARATOR, vocab=known)


def _frequent(path: PathLike, threshold: int) -> Set[str]:
    """The pieces of a vocabulary that occur often enough; subword-nmt would ignore an empty one."""
    pieces = set()
    for number, line in enumerate(iterate_lines(path), 1):
        piece, _, count = line.strip("\r ").removesuffix(" #fairseq:overwrite").rpartition(" ")
        if not piece or " " in piece or not (count.isascii() and count.isdigit() and len(count) < 19):
            raise BadInput(f"expected a piece and its count on each line, found {line[:60]!r}", path, number)
        if int(count) >= threshold:
            pieces.add(piece)
    if not pieces:
        raise BadInput(f"expected a vocabulary, found no piece that occurs {threshold} times", path)
    return pieces


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
