"""How every command writes its files: whole or not at all, and checked before the work begins.

A regular file is written to a draft beside it and renamed, through symbolic links, with the mode of the file
that it replaces. Anything else, such as a pipe, a device or /dev/stdout, is written in place.
"""

import contextlib
import fcntl
import os
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple, Union

from ctxmt_fairseq.drafts import Draft, PathLike, draft_file, take_over_permissions
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.kept_files import check_not_kept

Content = Union[str, bytes, Callable[[BinaryIO], object]]
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_LONGEST_CHAIN = 40  # symbolic links, as Linux follows them


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


@contextlib.contextmanager
def writing(path: PathLike) -> Iterator[None]:
    """Name the file of an ``OSError``: disk full, no permission, name too long, ..

    Raises:
        BadInput: in place of any ``OSError``, but for nobody reading the other end of a pipe.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}", path) from None


def destination(path: PathLike) -> Destination:
    """What lies at a path that shall be written.

    Raises:
        BadInput: a folder, a folder that is missing, a name that no file can have, or a file that is kept
            (``kept_files``).
    """
    name = os.fspath(path)
    if not name or "\0" in name:
        raise BadInput(f"expected the name of a file, found {name!r}")
    with writing(path):
        descriptor = _descriptor(name)
        if descriptor is not None:
            os.fstat(descriptor)
            return Destination(path, descriptor=descriptor)
        try:
            there: Optional[os.stat_result] = os.stat(name)
        except FileNotFoundError:
            there = None
        if name.endswith("/") or there and stat.S_ISDIR(there.st_mode):
            raise BadInput("cannot be written: expected a file, found the name of a folder", path)
        if there and not stat.S_ISREG(there.st_mode):
            return Destination(path)
        file = Path(os.path.realpath(name))
        if not file.parent.is_dir():
            raise BadInput(f"cannot be written: no such folder: {file.parent}", path)
        check_not_kept(path)
        return Destination(path, file, there)


def _descriptor(name: str) -> Optional[int]:
    """The descriptor that a name stands for. Opened by name, a redirected stdout would be cut to nothing."""
    for _ in range(_LONGEST_CHAIN):
        name = os.path.abspath(name)
        found = _DESCRIPTOR.fullmatch(name)
        if name in _STANDARD or found:
            return _STANDARD[name] if found is None else int(found[1])
        if not os.path.islink(name):
            break
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return None


def check_outputs(*paths: Optional[PathLike]) -> None:
    """Whether all outputs of a command can be written, before it works for hours; nothing is changed.

    Args:
        paths: None for an output that was not asked for.

    Raises:
        BadInput: names the first that cannot be written, or two that are one file.
    """
    seen: List[Path] = []
    for path in paths:
        if path is None:
            continue
        to = destination(path)
        with writing(path):
            if to.file is None:
                # A pipe must not be opened to find out: its reader would see it end.
                allowed = os.access(path, os.W_OK) if to.descriptor is None else _is_open(to.descriptor)
            else:
                allowed = to.there is None or os.access(to.file, os.W_OK)
                with draft_file(to.file):
                    pass
        if not allowed:
            raise BadInput("cannot be written: Permission denied", path)
        if to.file is not None:
            if to.file in seen:
                raise BadInput("cannot be written: two outputs have this name", path)
            seen.append(to.file)


def _is_open(descriptor: int) -> bool:
    """Whether a descriptor can be written to."""
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


def write_file(path: PathLike, content: Content) -> None:
    """Write one file; see ``write_files``."""
    write_files([(path, content)])


def write_files(contents: Iterable[Tuple[Optional[PathLike], Optional[Content]]]) -> None:
    """Write all files, or none of them.

    Args:
        contents: file (None: not asked for) and what it shall hold: text (as UTF-8), bytes, or a function
            that writes to a binary stream; None: a file of this name is out of date, and removed.

    Raises:
        BadInput: one of them cannot be written.
    """
    given = [(destination(path), content) for path, content in contents if path is not None]
    asked = [(to, content) for to, content in given if content is not None]
    with contextlib.ExitStack() as stack:
        drafts: List[Tuple[Destination, Draft]] = []
        for to, content in asked:
            if to.file is not None:
                with writing(to.path):
                    draft = stack.enter_context(draft_file(to.file))
                    with open(draft.path, "wb") as stream:
                        _write(stream, content)
                        os.fsync(stream.fileno())
                    if to.there:
                        take_over_permissions(draft.path, to.there)
                drafts.append((to, draft))
        for to, content in asked:
            if to.file is None:
                with writing(to.path), _in_place(to) as stream:
                    _write(stream, content)
        _place(drafts)
    for to in [to for to, content in given if content is None]:
        if to.file is not None:
            with writing(to.path):
                to.file.unlink(missing_ok=True)


class OpenOutputs:
    """Files that are open together; see ``open_outputs``."""

    def __init__(self, streams: Dict[PathLike, BinaryIO]):
        self._streams = streams
        self.left_out: Set[PathLike] = set()

    def __getitem__(self, path: PathLike) -> BinaryIO:
        return self._streams[path]

    def leave_out(self, path: PathLike) -> None:
        """Not to be written after all; a file of this name is removed, for it is out of date."""
        self.left_out.add(path)


@contextlib.contextmanager
def open_outputs(paths: Sequence[PathLike]) -> Iterator[OpenOutputs]:
    """Files for content that comes bit by bit: all appear at the end of the block, or on an error none.

    Raises:
        BadInput: one of them cannot be written, or is no regular file.
    """
    check_outputs(*paths)
    with contextlib.ExitStack() as stack:
        drafts: List[Tuple[Destination, Draft]] = []
        streams: Dict[PathLike, BinaryIO] = {}
        for path in paths:
            to = destination(path)
            if to.file is None:
                raise BadInput("cannot be written: expected the name of a regular file", path)
            with writing(path):
                drafts.append((to, stack.enter_context(draft_file(to.file))))
                streams[path] = stack.enter_context(open(drafts[-1][1].path, "wb"))
        outputs = OpenOutputs(streams)
        yield outputs
        for to, draft in drafts:
            with writing(to.path):
                streams[to.path].flush()
                os.fsync(streams[to.path].fileno())
                if to.there:
                    take_over_permissions(draft.path, to.there)
        _place([(to, draft) for to, draft in drafts if to.path not in outputs.left_out])
        for to, draft in drafts:
            if to.path in outputs.left_out:
                with writing(to.path):
                    draft.target.unlink(missing_ok=True)


def _write(stream: BinaryIO, content: Content) -> None:
    if callable(content):
        content(stream)
    else:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)
    stream.flush()


def _in_place(to: Destination) -> BinaryIO:
    if to.descriptor is None:
        return open(to.path, "wb")
    sys.stdout.flush()
    sys.stderr.flush()
    return open(os.dup(to.descriptor), "wb")


def _place(drafts: List[Tuple[Destination, Draft]]) -> None:
    """The renames, after everything that is likely to fail."""
    new: List[Path] = []
    try:
        for to, draft in drafts:
            with writing(to.path):
                draft.place()
            if to.there is None:
                new.append(draft.target)
    except BaseException:
        for file in new:
            file.unlink(missing_ok=True)
        raise
