"""Keeps other libraries' debug messages out of our commands' stderr and out of users' notebooks."""

import contextlib
import logging
from typing import Iterator

_TALKATIVE = (None, "hydra", "numba", "matplotlib", "fairseq", "h5py", "umap", "sentence_transformers")


@contextlib.contextmanager
def root_logger_kept() -> Iterator[None]:
    """Leave the root logger as it is. Importing fairseq makes it write everything from DEBUG on to stderr,
    unless somebody has set it up before."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        _set_level(root, level)
        root.handlers[:] = handlers


def quiet_libraries() -> None:
    """Let libraries show warnings only; otherwise hydra, numba and matplotlib flood stderr.

    The root logger is set up first, because fairseq sets it to DEBUG only where nobody has.
    """
    logging.basicConfig()
    for name in _TALKATIVE:
        _set_level(logging.getLogger(name), logging.WARNING)
    # our own one line says that a model cannot be reached; this logger would add one for each attempt
    _set_level(logging.getLogger("huggingface_hub.utils._http"), logging.ERROR)


def _set_level(logger: logging.Logger, level: int) -> None:
    """Set a level if it differs, because after a change all loggers work out their levels anew."""
    if logger.level != level:
        logger.setLevel(level)
