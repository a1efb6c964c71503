"""Writes the files of every command: all of an output or nothing, and never over what the command reads.
Whether it can be written is checked before the work begins.

Regular files are written to a draft beside their place, which is then renamed: symbolic links are followed,
and the mode of what was there stays. Anything else, such as a pipe, a device or /dev/stdout, is written
directly.
"""

import contextlib
import fcntl
import os
import re
import stat
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from ctxmt_fairseq.base.drafts import PREFIX, Draft, PathLike
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import STANDARD

Content = Union[str, bytes, Callable[[BinaryIO], object]]
OpenOutputs = Dict[PathLike, BinaryIO]
_KEPT: ContextVar[frozenset[str]] = ContextVar("kept files", default=frozenset())
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_LONGEST_CHAIN = 40  # symbolic links that Linux follows


@contextlib.contextmanager
def keeping(paths: Iterable[PathLike]) -> Iterator[None]:
    """Within the block, write over none of these files and folders either."""
    before = _KEPT.set(_KEPT.get() | set(map(os.path.realpath, paths)))
    try:
        yield
    finally:
        _KEPT.reset(before)


def check_nothing_kept_within(folder: PathLike) -> None:
    """Refuse to replace a folder that is kept, or that has something in it that is."""
    real = os.path.realpath(folder)
    for kept in sorted(_KEPT.get()):
        if kept == real or kept.startswith(os.path.join(real, "")):
            raise BadInput(f"cannot be replaced: this command reads {os.path.relpath(kept)}", folder)


@contextlib.contextmanager
def writing(path: PathLike) -> Iterator[None]:
    """Report in one line what the system refuses (but a broken pipe), such as a full disk: for the file that
    it names, or for this output if it names none or a draft."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        named = error.filename2 or error.filename  # the second is what was copied or moved to
        if isinstance(named, (str, Path)) and PREFIX not in str(named) and str(named) != str(path):
            raise BadInput(f"{error.strerror}", named) from None
        raise BadInput(f"cannot be written: {error.strerror or error}", path) from None


@dataclass(frozen=True)
class Destination:
    """Where an output goes, which the user named ``path``.

    Attributes:
        file: the regular file that is or will be there, with symbolic links resolved; None for anything else.
        there: the status of the file, if it exists.
        descriptor: the open descriptor that the path stands for (/dev/stdout, /dev/fd/3), if it does.
    """

    path: PathLike
    file: Optional[Path] = None
    there: Optional[os.stat_result] = None
    descriptor: Optional[int] = None

    def open_in_place(self) -> BinaryIO:
        """Open it for writing: by its descriptor, because opening a redirected stdout empties it."""
        if self.descriptor is None:
            return open(self.path, "wb")
        sys.stdout.flush()
        sys.stderr.flush()
        return open(os.dup(self.descriptor), "wb")


def destination(path: PathLike) -> Destination:
    """Look at a path before it is written: refuse a folder, a place in a folder that is missing, a name that
    no file can have, and a file that is kept."""
    name = os.fspath(path)
    if not name or "\0" in name:
        raise BadInput(f"expected the name of a file, found {name!r}")
    with writing(path):
        descriptor = _descriptor(name)
        if descriptor is not None:
            os.fstat(descriptor)
            return Destination(path, descriptor=descriptor)
        there = status(name)
        if name.endswith("/") or there and stat.S_ISDIR(there.st_mode):
            raise BadInput("cannot be written: this is the name of a folder; choose that of a file", path)
        if there and not stat.S_ISREG(there.st_mode):
            return Destination(path)
        file = Path(os.path.realpath(name))
        if not file.parent.is_dir():
            raise BadInput(f"cannot be written: no such folder: {file.parent}", path)
        if str(file) in _KEPT.get():
            raise BadInput("cannot be written: this command reads it", path)
        return Destination(path, file, there)


def regular_file(path: PathLike) -> Path:
    """The regular file that is or will be at a path; a pipe or a device is refused."""
    file = destination(path).file
    if file is None:
        raise BadInput("cannot be written: choose a regular file, not a pipe or a device", path)
    return file


def status(path: PathLike) -> Optional[os.stat_result]:
    """The status of what is at a path, with symbolic links followed; None if nothing is there."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _descriptor(name: str) -> Optional[int]:
    """The descriptor that a name means, such as 1 for - and /dev/stdout; None for any other name."""
    if name == STANDARD:
        return 1
    for _ in range(_LONGEST_CHAIN):
        name = os.path.abspath(name)
        found = _DESCRIPTOR.fullmatch(name)
        if name in _STANDARD or found:
            return _STANDARD[name] if found is None else int(found[1])
        if not os.path.islink(name):
            break
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return None


def _destinations(paths: Iterable[Optional[PathLike]]) -> List[Destination]:
    """The destinations of the outputs that were asked for; two may not be one file."""
    found: List[Destination] = []
    for to in (destination(path) for path in paths if path is not None):
        if to.file is not None and to.file in [one.file for one in found]:
            raise BadInput("cannot be written: two outputs have this name; rename one", to.path)
        found.append(to)
    return found


def check_outputs(*paths: Optional[PathLike]) -> List[Destination]:
    """Check that the outputs of a command (None: not asked for) can be written, before it works for hours."""
    destinations = _destinations(paths)
    for to in destinations:
        with writing(to.path):
            if to.descriptor is not None:
                allowed = fcntl.fcntl(to.descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            else:  # opening a pipe to find out would tell its reader that it ends
                allowed = not os.path.exists(to.path) or os.access(to.path, os.W_OK)
            if to.file is not None:
                with Draft(to.file):
                    pass
        if not allowed:
            raise BadInput("cannot be written: Permission denied", to.path)
    return destinations


def write_file(path: PathLike, content: Content) -> None:
    """Write one file; see ``write_files``."""
    write_files([(path, content)])


def write_files(contents: Iterable[Tuple[Optional[PathLike], Optional[Content]]]) -> None:
    """Write all files, or none of them, with their content: text (written as UTF-8), bytes, or a function
    that writes to a binary stream. A path None was not asked for; None as content removes the file, because
    it is out of date."""
    asked = [(path, content) for path, content in contents if path is not None]
    destinations = _destinations(path for path, _ in asked)
    with _replacing(destinations) as outputs:
        for to, (path, content) in zip(destinations, asked, strict=True):
            if content is None:
                outputs.pop(path, None)
            elif to.file:
                with writing(path):
                    _write(outputs[path], content)
                    os.fsync(outputs[path].fileno())
        for to, (path, content) in zip(destinations, asked, strict=True):
            if not to.file and content is not None:  # comes last, because it cannot be taken back
                with writing(path), to.open_in_place() as stream:
                    _write(stream, content)


def _write(stream: BinaryIO, content: Content) -> None:
    if callable(content):
        content(stream)
    else:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)
    stream.flush()


@contextlib.contextmanager
def open_outputs(paths: Sequence[PathLike]) -> Iterator[OpenOutputs]:
    """Open files for content that comes bit by bit, streams by path. At the end of the block all of them
    appear; on an error, none. If a stream is taken out, its file is not written, and an older one is
    removed."""
    for path in paths:
        regular_file(path)
    with _replacing(check_outputs(*paths)) as outputs:
        yield outputs


@contextlib.contextmanager
def _replacing(destinations: List[Destination]) -> Iterator[OpenOutputs]:
    """Streams to drafts of the regular files, which take their places at the end of the block."""
    drafts: Dict[Destination, Draft] = {}
    outputs: OpenOutputs = {}
    with contextlib.ExitStack() as stack:
        for to in destinations:
            if to.file is not None:
                with writing(to.path):
                    drafts[to] = stack.enter_context(Draft(to.file))
                    outputs[to.path] = open(drafts[to].path, "wb")
                    stack.callback(_close, outputs[to.path])
        yield outputs
        for path, stream in outputs.items():
            with writing(path):
                stream.flush()
                os.fsync(stream.fileno())
        _place({to: draft for to, draft in drafts.items() if to.path in outputs})
        for to, draft in drafts.items():
            if to.path not in outputs:
                with writing(to.path):
                    draft.target.unlink(missing_ok=True)


def _close(stream: BinaryIO) -> None:
    """Close a stream. On a full disk this fails as writing did; what is kept has been flushed before."""
    with contextlib.suppress(OSError):
        stream.close()


def _place(drafts: Dict[Destination, Draft]) -> None:
    """Rename the drafts, after everything that is likely to fail."""
    new: List[Path] = []
    try:
        for to, draft in drafts.items():
            with writing(to.path):
                draft.place(to.there)
            if to.there is None:
                new.append(draft.target)
    except BaseException:
        for file in new:
            file.unlink(missing_ok=True)
        raise
