"""Text files that have the same lines."""

import itertools
from pathlib import Path
from typing import Any, Iterator, List, Sequence, Tuple, Union

from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]


def lines_together(*paths: PathLike) -> Iterator[List[str]]:
    """A line of each file at a time.

    Raises:
        BadInput: as ``iterate_lines``, or files of different lengths.
    """
    return together([(path, iterate_lines(path)) for path in paths])


def together(columns: Sequence[Tuple[PathLike, Iterator[Any]]]) -> Iterator[List[Any]]:
    """What several readers make of a line each, at a time.

    Args:
        columns: file, and what its reader yields for each line (never None).

    Raises:
        BadInput: as the readers, or files of different lengths.
    """
    paths = [path for path, _ in columns]
    for number, lines in enumerate(itertools.zip_longest(*(reader for _, reader in columns))):
        if None in lines:
            longer = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
            shorter = paths[lines.index(None)]
            raise BadInput(f"expected as many lines as {longer}, found {number}", shorter)
        yield list(lines)
