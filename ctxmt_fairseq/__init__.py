"""Context-aware machine translation with fairseq: ``fairseq-train --user-dir ctxmt_fairseq``.

Importing the package takes no time. It registers its tasks, architectures and criterions with fairseq where
fairseq is imported already, as under ``--user-dir``, and else as soon as fairseq is.
"""

import importlib
import logging
from typing import Any, List

from ctxmt_fairseq import edge, quiet, registration

__version__ = "0.2.0.dev0"
# What the package offers to Python, by the modules that are imported when it is asked for.
_PUBLIC = {
    "BadInput": "ctxmt_fairseq.errors",
    "Translator": "ctxmt_fairseq.translator",
}
__all__ = ["__version__", *_PUBLIC]

edge.hook_commands()  # first: what follows may take seconds, in which a command may be interrupted
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)  # talks at every import
registration.WITH_FAIRSEQ.install()


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with quiet.root_logger_kept():
        return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> List[str]:
    return sorted({*globals(), *_PUBLIC})
