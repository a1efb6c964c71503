"""Temporary siblings of an output that is being written, and locks that a process loses however it ends.

A draft lies beside its output, so that one rename puts it in place. Its name cannot be a user's, and its
writer holds a lock on it: a draft that nobody holds was left behind by a run that was killed, and the next
run to the same output removes it. Process numbers say nothing here: they are used again.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
from pathlib import Path
from typing import Callable, Set, Union

PathLike = Union[str, Path]
PREFIX = ".ctxmt-"
_held: Set[int] = set()  # descriptors of locks


def _let_go() -> None:
    """A forked worker may outlive its parent, and would go on to hold the parent's locks."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


class Lock:
    """A lock on a file or folder, held until ``close`` or until the process ends.

    Attributes:
        certain: False on a file system without locks, where nothing keeps others out.

    Raises:
        BlockingIOError: another ``Lock`` holds it.
        OSError: it cannot be opened.
    """

    def __init__(self, path: PathLike):
        self._descriptor = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
        self.certain = True
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise
        except OSError:
            self.certain = False
        _held.add(self._descriptor)

    def covers(self, path: PathLike) -> bool:
        """Whether what was locked is still what lies at the path."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(path))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        if self._descriptor in _held:
            _held.remove(self._descriptor)
            os.close(self._descriptor)


class Draft:
    """A locked temporary sibling of ``target``, which vanishes at the end of a ``with`` unless it was placed.

    Args:
        target: the output's own path, no symbolic link.
        make: makes the empty file or folder of a given name, which must not exist.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, target: Path, make: Callable[[Path], None]):
        self.target = target
        remove_leftovers(target)
        while True:
            self.path = target.parent / f"{_prefix(target)}{secrets.token_hex(8)}"
            make(self.path)
            try:
                self._lock = Lock(self.path)
            except (BlockingIOError, FileNotFoundError):  # another run took it for a leftover
                continue
            if self._lock.covers(self.path):
                return
            self._lock.close()

    def __enter__(self) -> "Draft":
        return self

    def place(self) -> None:
        """Put it in the output's place, in one step."""
        os.replace(self.path, self.target)
        sync_folder(self.target.parent)

    def __exit__(self, *error: object) -> None:
        _remove(self.path)
        self._lock.close()


def draft_file(target: Path) -> Draft:
    """A draft that is a file, with the permissions of any new file."""
    return Draft(target, lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)))


def draft_folder(target: Path) -> Draft:
    """A draft that is a folder."""
    return Draft(target, lambda path: path.mkdir())


def _prefix(target: Path) -> str:
    """What the names of a target's drafts begin with: short, whatever the target's name is."""
    return f"{PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def former(target: Path) -> Path:
    """Where a folder lies while another takes its place."""
    return target.parent / f"{_prefix(target)[:-1]}.old"


def remove_leftovers(target: Path) -> bool:
    """Remove the drafts of an output that nobody holds; returns whether somebody holds one."""
    living, prefix = False, _prefix(target)
    names = os.listdir(target.parent) if target.parent.is_dir() else []
    for path in (target.parent / name for name in names if name.startswith(prefix)):
        try:
            lock = Lock(path)
        except BlockingIOError:
            living = True
            continue
        except OSError:  # gone by now, or another user's
            continue
        try:
            if lock.certain:
                _remove(path)
        finally:
            lock.close()
    return living


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync_folder(folder: PathLike) -> None:
    """Put on disk which files the folder has."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot do this for folders
            raise
    finally:
        os.close(descriptor)


def take_over_permissions(path: PathLike, like: os.stat_result) -> None:
    """Give a draft the mode of what it will replace, and its owner where that is allowed."""
    try:
        os.chown(path, like.st_uid, like.st_gid)
    except PermissionError:
        pass
    os.chmod(path, like.st_mode & 0o7777)
