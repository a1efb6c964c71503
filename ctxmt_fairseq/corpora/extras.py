"""Packages that only some commands need."""

import importlib
from typing import Any

from ctxmt_fairseq.errors import BadInput


def import_of_extra(module: str, extra: str, what: str) -> Any:
    """A module of an optional package.

    Args:
        extra: of this package, which installs it.
        what: needs which package, as the message begins.

    Raises:
        BadInput: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise BadInput(f'{what}, in the extra "{extra}": pip install ".[{extra}]"') from None
