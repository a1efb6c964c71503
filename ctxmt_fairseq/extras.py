"""Packages that only some commands need."""

import importlib
from typing import Any

from ctxmt_fairseq.errors import BadInput


def installation(extra: str) -> str:
    """The command that installs an extra; the package comes as a checkout."""
    return f'pip install ".[{extra}]" in the checkout'


def import_of_extra(module: str, extra: str, what: str) -> Any:
    """A module of an optional package.

    Args:
        extra: of this package, which installs it.
        what: needs which package, as the message begins.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise BadInput(f'{what}, in the extra "{extra}": {installation(extra)}') from None
    except Exception as error:  # a library compiled for another NumPy raises what it likes
        raise BadInput(f"{what}, which cannot be imported: {' '.join(str(error).split())}") from None


def check_matplotlib() -> None:
    """Raises BadInput: matplotlib is not installed."""
    import_of_extra("matplotlib", "plots", "a picture needs matplotlib")
