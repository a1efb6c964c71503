"""How a result was made, for its JSON: the command, and the versions of what computed it."""

from contextvars import ContextVar
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

DISTRIBUTIONS = ("ctxmt_fairseq", "fairseq", "fairseq-fixed", "torch", "numpy", "sentencepiece", "sacrebleu")
# The words of the command that runs.
COMMAND_LINE: ContextVar[Sequence[str]] = ContextVar("command line", default=())


def made_by() -> Dict[str, Any]:
    """The entry ``made_by``."""
    import shlex

    return {"command": shlex.join(COMMAND_LINE.get()), "versions": versions()}


def versions() -> Dict[str, str]:
    """The versions of Python and of the installed packages that numbers depend on."""
    import importlib.metadata
    import platform

    found = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> Optional[str]:
    """The last commit that changed this package; None: no checkout has it, or there is no git."""
    import subprocess

    package = str(Path(__file__).parents[1])
    command = ["git", "-C", package, "log", "-1", "--format=%h", "--", "."]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None
