"""How every command writes a folder: beside its place, where it appears when it is complete."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import Callable, Iterator, List

from ctxmt_fairseq.drafts import (
    PREFIX,
    Draft,
    Lock,
    PathLike,
    draft_folder,
    former,
    remove_leftovers,
    take_over_permissions,
)
from ctxmt_fairseq.errors import BadInput


def _refuse(folder: Path) -> None:
    raise BadInput("expected a new or empty folder", folder)


def check_folder(path: PathLike) -> None:
    """Whether a folder can be made or written to, before the work begins.

    Raises:
        BadInput: it cannot.
    """
    target = Path(os.path.realpath(path))
    with _naming(path):
        nearest = next(folder for folder in (target, *target.parents) if os.path.lexists(folder))
        target.exists()  # names that no file can have
    if not nearest.is_dir():
        raise BadInput("cannot be made: File exists", nearest)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise BadInput("cannot be written: Permission denied", nearest)


@contextlib.contextmanager
def folder_output(path: PathLike, check: Callable[[Path], None] = _refuse) -> Iterator[Path]:
    """A folder to be filled, which takes the place of ``path`` at the end, or vanishes on an error.

    Args:
        path: a new or empty folder; a symbolic link to one stays.
        check: is asked about what is there otherwise, and raises ``BadInput`` unless it may be replaced.

    Raises:
        BadInput: ``path`` cannot be written, or another process is writing it.
    """
    target = Path(os.path.realpath(path))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_naming(path))
        _bring_back(target)
        used = os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir()))
        if used:
            check(target)
        if target.exists() and (target == Path.cwd() or os.path.ismount(target)):
            raise BadInput("the current folder or a mount point cannot be replaced; expected another", path)
        if remove_leftovers(target):
            raise BadInput("another ctxmt is writing to it", path)
        stack.enter_context(_parents(target.parent))
        draft = stack.enter_context(draft_folder(target))
        yield draft.path
        _place(draft, used)


@contextlib.contextmanager
def _naming(path: PathLike) -> Iterator[None]:
    """An ``OSError`` as a line: about the file that it names, or about the output if that is a draft."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if isinstance(error.filename, (str, Path)) and PREFIX not in str(error.filename):
            raise BadInput(f"{error.strerror}", error.filename) from None
        raise BadInput(f"cannot be written: {error.strerror or error}", path) from None


@contextlib.contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """Make the folders above; on an error those that were missing go again."""
    missing: List[Path] = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot be made: {error.strerror}", folder) from None
        yield
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _place(draft: Draft, used: bool) -> None:
    if draft.target.exists():
        take_over_permissions(draft.path, draft.target.stat())
    if not used:
        draft.place()  # an empty folder gives way in the same step
        return
    old = former(draft.target)
    with contextlib.closing(Lock(draft.target)):  # a lock moves with what is locked
        try:
            os.replace(draft.target, old)
            draft.place()
        finally:
            if not draft.target.exists():
                os.replace(old, draft.target)
            shutil.rmtree(old, ignore_errors=True)


def _bring_back(target: Path) -> None:
    """What a run that was killed had moved aside to replace it."""
    old = former(target)
    if not old.exists():
        return
    with contextlib.suppress(BlockingIOError), contextlib.closing(Lock(old)):
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.replace(old, target)
