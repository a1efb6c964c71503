"""How every command writes: whole or not at all, never over what it reads, checked before the work begins.

Regular files and folders are written to a draft beside their place, and renamed, through symbolic links, with
the mode of what they replace. Anything else, such as a pipe, a device or /dev/stdout, is written in place.
"""

import contextlib
import fcntl
import os
import re
import shutil
import stat
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import (
    BinaryIO,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from ctxmt_fairseq.drafts import PREFIX, Draft, PathLike, hidden, remove_leftovers
from ctxmt_fairseq.errors import BadInput

Content = Union[str, bytes, Callable[[BinaryIO], object]]
OpenOutputs = Dict[PathLike, BinaryIO]
_KEPT: ContextVar[FrozenSet[str]] = ContextVar("kept files", default=frozenset())
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_LONGEST_CHAIN = 40  # symbolic links, as Linux follows them


@contextlib.contextmanager
def keeping(paths: Iterable[PathLike]) -> Iterator[None]:
    """Within the block, nothing is written over these files and folders, too."""
    before = _KEPT.set(_KEPT.get() | set(map(os.path.realpath, paths)))
    try:
        yield
    finally:
        _KEPT.reset(before)


def check_nothing_kept_within(folder: PathLike) -> None:
    """Raises BadInput: it, or something in it, is kept."""
    real = os.path.realpath(folder)
    for kept in sorted(_KEPT.get()):
        if kept == real or kept.startswith(os.path.join(real, "")):
            raise BadInput(f"cannot be replaced: this command reads {os.path.relpath(kept)}", folder)


@contextlib.contextmanager
def writing(path: PathLike) -> Iterator[None]:
    """Say in one line what the system refuses (disk full, no permission, name too long, ..), about the file
    that it names, or about this output if it names none, or a draft.

    Raises:
        BadInput: in place of any ``OSError``, but for nobody reading the other end of a pipe.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        named = error.filename
        if isinstance(named, (str, Path)) and PREFIX not in str(named) and str(named) != str(path):
            raise BadInput(f"{error.strerror}", named) from None
        raise BadInput(f"cannot be written: {error.strerror or error}", path) from None


# ---- files -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Destination:
    """Where an output goes.

    Attributes:
        path: as the user named it.
        file: the regular file that is there or will be, symbolic links resolved; None for anything else.
        there: what the file's status is, if it exists.
        descriptor: the open descriptor that the path stands for (/dev/stdout, /dev/fd/3), if it does.
    """

    path: PathLike
    file: Optional[Path] = None
    there: Optional[os.stat_result] = None
    descriptor: Optional[int] = None

    def open_in_place(self) -> BinaryIO:
        """Opened by name, a redirected stdout would be cut to nothing."""
        if self.descriptor is None:
            return open(self.path, "wb")
        sys.stdout.flush()
        sys.stderr.flush()
        return open(os.dup(self.descriptor), "wb")


def destination(path: PathLike) -> Destination:
    """What lies at a path that shall be written."""
    name = os.fspath(path)
    if not name or "\0" in name:
        raise BadInput(f"expected the name of a file, found {name!r}")
    with writing(path):
        descriptor = _descriptor(name)
        if descriptor is not None:
            os.fstat(descriptor)
            return Destination(path, descriptor=descriptor)
        there = _status(name)
        if name.endswith("/") or there and stat.S_ISDIR(there.st_mode):
            raise BadInput("cannot be written: expected a file, found the name of a folder", path)
        if there and not stat.S_ISREG(there.st_mode):
            return Destination(path)
        file = Path(os.path.realpath(name))
        if not file.parent.is_dir():
            raise BadInput(f"cannot be written: no such folder: {file.parent}", path)
        if str(file) in _KEPT.get():
            raise BadInput("cannot be written: this command reads it", path)
        return Destination(path, file, there)


def regular_file(path: PathLike) -> Path:
    """The regular file that is or will be at a path."""
    file = destination(path).file
    if file is None:
        raise BadInput("cannot be written: expected the name of a regular file", path)
    return file


def _status(path: PathLike) -> Optional[os.stat_result]:
    """Of what lies there, symbolic links followed; None for nothing."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _descriptor(name: str) -> Optional[int]:
    """The descriptor that a name stands for."""
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
    """Of the outputs that were asked for."""
    found: List[Destination] = []
    for to in (destination(path) for path in paths if path is not None):
        if to.file is not None and to.file in [one.file for one in found]:
            raise BadInput("cannot be written: two outputs have this name", to.path)
        found.append(to)
    return found


def check_outputs(*paths: Optional[PathLike]) -> List[Destination]:
    """Whether all outputs of a command can be written, before it works for hours; nothing is changed.

    Args:
        paths: None for an output that was not asked for.
    """
    destinations = _destinations(paths)
    for to in destinations:
        with writing(to.path):
            if to.descriptor is not None:
                allowed = fcntl.fcntl(to.descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            else:  # a pipe must not be opened to find out: its reader would see it end
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
    """Write all files, or none of them.

    Args:
        contents: file (None: not asked for) and what it shall hold: text (as UTF-8), bytes, or a function
            that writes to a binary stream; None: a file of this name is out of date, and removed.
    """
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
            if not to.file and content is not None:  # cannot be taken back, so it comes last
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
    """Files for content that comes bit by bit: all appear at the end of the block, or on an error none.

    Yields:
        their streams. A file whose stream is taken out is not written after all, and one of its name is
        removed, because it is out of date.

    Raises:
        BadInput: one of them cannot be written, or is no regular file.
    """
    for path in paths:
        regular_file(path)
    with _replacing(check_outputs(*paths)) as outputs:
        yield outputs


@contextlib.contextmanager
def _replacing(destinations: List[Destination]) -> Iterator[OpenOutputs]:
    """Drafts of the regular files among them, which take their places at the end of the block."""
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
    """On a full disk, closing fails as writing did; a stream that is kept has been flushed before."""
    with contextlib.suppress(OSError):
        stream.close()


def _place(drafts: Dict[Destination, Draft]) -> None:
    """The renames, after everything that is likely to fail."""
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


# ---- folders -----------------------------------------------------------------------------------------------


def check_folder(path: PathLike) -> None:
    """Whether a folder can be made or written to, before the work begins."""
    target = Path(os.path.realpath(path))
    with writing(path):
        nearest = next(folder for folder in (target, *target.parents) if os.path.lexists(folder))
        if nearest.is_dir():
            _status(target)
    if not nearest.is_dir():
        raise BadInput("cannot be made: File exists", nearest)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise BadInput("cannot be written: Permission denied", nearest)


def _refuse(folder: Path) -> None:
    raise BadInput("expected a new or empty folder", folder)


@contextlib.contextmanager
def folder_output(path: PathLike, check: Callable[[Path], None] = _refuse) -> Iterator[Path]:
    """A folder to be filled, which takes the place of ``path`` at the end, or vanishes on an error.

    Args:
        path: a new or empty folder; a symbolic link to one stays.
        check: is asked about what is there otherwise, and raises ``BadInput`` unless it may be replaced.
    """
    target = Path(os.path.realpath(path))
    old = hidden(target, ".old")  # where it lies while another takes its place
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
        if _status(target) and (target == Path.cwd() or os.path.ismount(target)):
            raise BadInput("the current folder or a mount point cannot be replaced; expected another", path)
        stack.callback(_remove_empty, [folder for folder in target.parents if not folder.exists()])
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = stack.enter_context(Draft(target, folder=True))
        yield draft.path
        there = _status(target)
        if used:
            os.replace(target, old)
        try:
            draft.place(there)  # an empty folder gives way in the same step
        finally:
            if used and not target.exists():
                os.replace(old, target)
            shutil.rmtree(old, ignore_errors=True)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
