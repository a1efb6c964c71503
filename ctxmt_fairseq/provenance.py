"""How a result was made: the command, and the versions of what computed it; for JSON."""

import importlib.metadata
import platform
import shlex
from typing import Any, Dict

DISTRIBUTIONS = ("ctxmt_fairseq", "fairseq-fixed", "torch", "numpy", "sentencepiece", "sacrebleu")


def made_by(args: Any) -> Dict[str, Any]:
    """The entry ``made_by``.

    Args:
        args: ``cli.commands.Options``.
    """
    return {"command": shlex.join(["ctxmt", *args.command_line]), "versions": versions()}


def versions() -> Dict[str, str]:
    """Python's, and those of the installed packages that numbers depend on."""
    found = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
