"""Context-aware machine translation with fairseq: ``fairseq-train --user-dir ctxmt_fairseq``.

Importing the package takes no time. If fairseq is imported already, as under ``--user-dir``, the import
registers the tasks, architectures and criterions with it; otherwise ``register`` does. All else of fairseq
stays as it is: what has to be mended in it is mended where one of its commands works on a task of ours
(``checkpoints.fairseq_fixes``).
"""

import importlib
import sys
from typing import Any, List

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation import registration

__version__ = "0.2.0"
__all__ = ["BadInput", "Translator", "__version__", "register"]


def register() -> None:
    """Register the tasks, architectures and criterions with fairseq, and give the tasks what is above them.

    Call this first in a program that imports this package before fairseq and then asks fairseq for one of
    them by its name. A second call does nothing.
    """
    registration.register()
    from ctxmt_fairseq.evaluation.contrastive_validation import ContrastiveValidation
    from ctxmt_fairseq.tasks.decoding_task import DecodingTask

    DecodingTask.contrastive_validation = ContrastiveValidation


def __getattr__(name: str) -> Any:
    if name != "Translator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    register()
    return importlib.import_module("ctxmt_fairseq.translator").Translator


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


if sys.modules.get("fairseq") is not None:
    register()
