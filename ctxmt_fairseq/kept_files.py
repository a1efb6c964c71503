"""Files that a command reads: nothing that it writes takes the place of one."""

import contextlib
import os
from contextvars import ContextVar
from pathlib import Path
from typing import FrozenSet, Iterable, Iterator, Union

from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]  # that of drafts, which imports more than every start of a command should

_KEPT: ContextVar[FrozenSet[str]] = ContextVar("kept files", default=frozenset())


@contextlib.contextmanager
def keeping(paths: Iterable[PathLike]) -> Iterator[None]:
    """Keep these files and folders, too, as they are within the block."""
    before = _KEPT.set(_KEPT.get() | set(map(os.path.realpath, paths)))
    try:
        yield
    finally:
        _KEPT.reset(before)


def check_not_kept(path: PathLike) -> None:
    """Raises BadInput: it is a file that is kept."""
    if os.path.realpath(path) in _KEPT.get():
        raise BadInput("cannot be written: this command reads it", path)


def check_nothing_kept_within(folder: PathLike) -> None:
    """Raises BadInput: it, or something in it, is kept."""
    real = os.path.realpath(folder)
    for kept in sorted(_KEPT.get()):
        if kept == real or kept.startswith(os.path.join(real, "")):
            raise BadInput(f"cannot be replaced: this command reads {os.path.relpath(kept)}", folder)
