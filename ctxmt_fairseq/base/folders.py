"""Writes the folders of every command as ``files`` does files: all of a folder or nothing."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import Callable, Iterable, Iterator

from ctxmt_fairseq.base.drafts import Draft, PathLike, hidden, remove_leftovers
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import status, writing


def check_folder(path: PathLike) -> None:
    """Check that a folder can be made or written to, before the work begins."""
    target = Path(os.path.realpath(path))
    with writing(path):
        nearest = next(folder for folder in (target, *target.parents) if os.path.lexists(folder))
        if nearest.is_dir():
            status(target)
    if not nearest.is_dir():
        raise BadInput("cannot be made: File exists", nearest)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise BadInput("cannot be written: Permission denied", nearest)


def _refuse(folder: Path) -> None:
    raise BadInput("expected a new or empty folder", folder)


def check_inside(path: Path, folder: Path) -> None:
    """Refuse a name that leads out of its folder, as with .. in it or by a link."""
    if path.parent != folder or os.path.dirname(os.path.realpath(path)) != os.path.realpath(folder):
        raise BadInput("leads out of the folder; cp -rL makes a copy without links", path)


@contextlib.contextmanager
def folder_output(path: PathLike, check: Callable[[Path], None] = _refuse) -> Iterator[Path]:
    """A folder to fill. It takes the place of ``path``, a new or empty folder or a link to one, at the end of
    the block, or is removed on an error. ``check`` refuses anything else that is there, unless it may be
    replaced."""
    target = Path(os.path.realpath(path))
    old = hidden(target, ".old")  # holds the old folder while the new one takes its place
    with contextlib.ExitStack() as stack:
        stack.enter_context(writing(path))
        if remove_leftovers(target):
            raise BadInput("another ctxmt is writing to it", path)
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        elif old.exists():  # a run was killed between its two renames
            os.replace(old, target)
        used = os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir()))
        if used:
            check(target)
        check_folder(target.parent)
        if status(target) and (target == Path.cwd() or os.path.ismount(target)):
            raise BadInput("the current folder or a mount point cannot be replaced; choose another", path)
        stack.callback(_remove_empty, [folder for folder in target.parents if not folder.exists()])
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = stack.enter_context(Draft(target, folder=True))
        yield draft.path
        there = status(target)
        if used:
            os.replace(target, old)
        try:
            draft.place(there)  # the same step replaces an empty folder
        finally:
            if used and not target.exists():
                os.replace(old, target)
            shutil.rmtree(old, ignore_errors=True)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
