"""Drafts: hidden files and folders beside the outputs that are being written.

A process locks its drafts until it ends, and one rename puts a draft in its output's place. A draft that
nobody locks was left by a run that was killed; the next run to the same output removes it. Locks tell this,
process numbers would not, because they are used again.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from typing import Optional, Set, Union

PathLike = Union[str, Path]
PREFIX = ".ctxmt-"
_held: Set[int] = set()  # descriptors of locks


def _let_go() -> None:
    """Close the parent's locks in a forked worker, which may outlive its parent."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


class Lock:
    """A lock on a file or folder, held until ``close`` or until the process ends; not ``certain`` on a file
    system without locks, where others are not kept out. A process that inherits ``descriptor`` holds it, too.
    ``BlockingIOError``: another ``Lock`` holds it."""

    def __init__(self, path: PathLike):
        self.descriptor = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
        self.certain = True
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self.descriptor)
            raise
        except OSError:
            self.certain = False
        _held.add(self.descriptor)

    def covers(self, path: PathLike) -> bool:
        """Whether the path still leads to the file or folder that was locked."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(path))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        if self.descriptor in _held:
            _held.remove(self.descriptor)
            os.close(self.descriptor)


class Draft:
    """A locked file or folder beside ``target``, removed at the end of a ``with`` unless it was placed."""

    def __init__(self, target: Path, folder: bool = False):
        self.target = target
        remove_leftovers(target)
        while True:
            self.path = hidden(target, f"-{os.urandom(8).hex()}")
            if folder:
                self.path.mkdir()
            else:
                self.path.touch(exist_ok=False)
            try:
                self._lock = Lock(self.path)
            except (BlockingIOError, FileNotFoundError):  # another run took it for a leftover
                continue
            if self._lock.covers(self.path):
                return
            self._lock.close()

    def __enter__(self) -> "Draft":
        return self

    def place(self, old: Optional[os.stat_result] = None) -> None:
        """Move it to the output's place in one step, with mode and, if allowed, owner of what was there."""
        if old:
            with contextlib.suppress(PermissionError):
                os.chown(self.path, old.st_uid, old.st_gid)
            os.chmod(self.path, old.st_mode & 0o7777)
        os.replace(self.path, self.target)
        sync_folder(self.target.parent)

    def __exit__(self, *error: object) -> None:
        _remove(self.path)
        self._lock.close()


def hidden(target: Path, end: str) -> Path:
    """A hidden path beside a target, with a short name however long the target's is."""
    return target.parent / f"{PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}{end}"


def remove_leftovers(target: Path) -> bool:
    """Remove the drafts of an output that nobody locks, and return whether somebody locks one."""
    living, prefix = False, hidden(target, "-").name
    names = os.listdir(target.parent) if target.parent.is_dir() else []
    for path in (target.parent / name for name in names if name.startswith(prefix)):
        try:
            lock = Lock(path)
        except BlockingIOError:
            living = True
            continue
        except OSError:  # gone by now, or another user's
            continue
        with contextlib.closing(lock):
            if lock.certain:
                _remove(path)
    return living


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync_folder(folder: PathLike) -> None:
    """Write the folder's list of files to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot do this for folders
            raise
    finally:
        os.close(descriptor)
