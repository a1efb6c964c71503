"""Keeps other libraries' debug messages out of our commands' stderr, and of users' notebooks."""

import contextlib
import logging
from typing import Iterator

_TALKATIVE = (None, "hydra", "numba", "matplotlib", "fairseq", "h5py", "umap", "sentence_transformers")


@contextlib.contextmanager
def root_logger_kept() -> Iterator[None]:
    """Leave the root logger as it is, whatever is imported: fairseq has it write all to stderr, from DEBUG
    on, unless somebody has set it up before."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        _set_level(root, level)
        root.handlers[:] = handlers


def quiet_libraries() -> None:
    """Show warnings only; else hydra, numba and matplotlib flood stderr.

    fairseq sets the root logger to DEBUG when it is imported, but only where nobody has set it up before.
    """
    logging.basicConfig()
    for name in _TALKATIVE:
        _set_level(logging.getLogger(name), logging.WARNING)
    # a model that is not reachable is one line of ours, not one for each attempt
    _set_level(logging.getLogger("huggingface_hub.utils._http"), logging.ERROR)


def _set_level(logger: logging.Logger, level: int) -> None:
    """Where it is another: each change makes all loggers of the process work out theirs anew."""
    if logger.level != level:
        logger.setLevel(level)
