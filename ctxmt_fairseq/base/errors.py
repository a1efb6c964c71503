"""``BadInput``, the one exception for bad input, and other exceptions that mean the same."""

import errno
from typing import Optional, Sequence

# How Python's tracebacks introduce the message of a ``BadInput``.
_MARK = "ctxmt_fairseq.base.errors.BadInput: "
_NAMED = 100  # so many places are named at most
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


def printable(text: str) -> str:
    """Text that a terminal shows and does not obey: what is no visible character is spelled out (\\x1b)."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


class BadInput(ValueError):
    """Input that cannot be used. ``str()`` is one printable line: file, line number, and what to do or what
    was expected.

    Args:
        message: what is wrong. If it is a traceback that ends with a ``BadInput``, only that one's message is
            taken: torch hands on the exceptions of processes that load data as tracebacks.
        path: the file at fault, if any.
        line: its line number, from 1.
    """

    def __init__(self, message: str, path: Optional[object] = None, line: Optional[int] = None):
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(printable(" ".join((place + message.rpartition(_MARK)[2]).split())))


def named(places: Sequence[str]) -> str:
    """Name places in a message."""
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return ", ".join(places[:_NAMED]) + more


def as_bad_input(error: Optional[BaseException]) -> Optional[BadInput]:
    """The ``BadInput`` that an exception means for the user; None for a defect of the program.

    It is found where fairseq raises something else because of it, and where torch reports it from another
    process. What the operating system refuses (a missing file, a full disk) counts too.
    """
    cause = error
    while cause is not None:
        if isinstance(cause, BadInput):
            return cause
        if _MARK in str(cause):
            return BadInput(str(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    if isinstance(error, OSError) and error.strerror and (error.filename or error.errno in _DISK):
        return BadInput(str(error.strerror), error.filename2 or error.filename or None)
    if isinstance(error, MemoryError):
        return BadInput(f"not enough memory: {error}" if str(error) else "not enough memory")
    return None
