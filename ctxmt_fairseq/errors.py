"""The one exception for bad input, and which other exceptions mean the same."""

import errno
from typing import Optional

# How Python's tracebacks introduce the message of a ``BadInput``.
_MARK = f"{__name__}.BadInput: "
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


class BadInput(ValueError):
    """Input that cannot be used; ``str()`` is one line: file, line number, what was expected.

    Args:
        message: what was found and what was expected. Of a traceback that ends with a ``BadInput``, its
            message counts: so torch hands on the exception of a process that loads data.
        path: the file at fault, if there is one.
        line: its line number, from 1.
    """

    def __init__(self, message: str, path: Optional[object] = None, line: Optional[int] = None):
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(" ".join((place + message.rpartition(_MARK)[2]).split()))


def as_bad_input(error: Optional[BaseException]) -> Optional[BadInput]:
    """What an exception says to the user; None for a defect of the program.

    Bad input is ``BadInput``, also where fairseq raises something else on its account or torch reports it
    from another process; and what the operating system refuses: a file that is not there, a full disk.
    """
    cause = error
    while cause is not None:
        if isinstance(cause, BadInput):
            return cause
        if _MARK in str(cause):
            return BadInput(str(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    if isinstance(error, OSError) and error.strerror and (error.filename or error.errno in _DISK):
        return BadInput(str(error.strerror), error.filename or None)
    if isinstance(error, MemoryError):
        return BadInput(f"not enough memory: {error}" if str(error) else "not enough memory")
    return None
