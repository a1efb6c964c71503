"""The one exception for bad input, and how a command ends on it."""

import functools
import sys
from typing import Any, Callable, Optional, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class BadInput(ValueError):
    """Input that cannot be used; ``str()`` is one line: file, line number, what was expected.

    Args:
        message: what was found and what was expected.
        path: the file at fault, if there is one.
        line: its line number, from 1.
    """

    def __init__(self, message: str, path: Optional[object] = None, line: Optional[int] = None):
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(" ".join((place + message).split()))


def exit_on_bad_input(function: Function) -> Function:
    """Decorator for an entry point: ``BadInput`` becomes one line on stderr and exit code 2."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BadInput as error:
            print(f"ctxmt: error: {error}", file=sys.stderr, flush=True)
            raise SystemExit(2) from None

    return wrapper  # type: ignore[return-value]
