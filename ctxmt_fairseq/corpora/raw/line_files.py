"""Text files that have the same lines."""

import itertools
from pathlib import Path
from typing import Iterator, List, Union

from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]


def lines_together(*paths: PathLike) -> Iterator[List[str]]:
    """A line of each file at a time.

    Raises:
        BadInput: as ``iterate_lines``, or files of different lengths.
    """
    for number, lines in enumerate(itertools.zip_longest(*map(iterate_lines, paths))):
        if None in lines:
            longer = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
            shorter = paths[lines.index(None)]
            raise BadInput(f"expected as many lines as {longer}, found {number}", shorter)
        yield list(lines)
