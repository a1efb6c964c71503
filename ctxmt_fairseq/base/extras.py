"""Packages that only some commands need."""

import importlib
from typing import Any

from ctxmt_fairseq.base.errors import BadInput


def installation(extra: str) -> str:
    """The command that installs an extra of this package, which users have as a checkout."""
    return f'pip install ".[{extra}]" in the checkout'


def import_of_extra(module: str, extra: str, what: str) -> Any:
    """Import a module of an extra; ``what`` begins the message: what needs which package."""
    return _imported(module, what, f'in the extra "{extra}": {installation(extra)}')


def check_matplotlib() -> None:
    """Refuse a picture where matplotlib cannot be imported."""
    _imported("matplotlib", "a picture needs matplotlib", "which is not installed: pip install matplotlib")


def _imported(module: str, what: str, missing: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise BadInput(f"{what}, {missing}") from None
    except Exception as error:  # a library compiled for another NumPy may raise anything
        raise BadInput(f"{what}, which cannot be imported: {' '.join(str(error).split())}") from None
