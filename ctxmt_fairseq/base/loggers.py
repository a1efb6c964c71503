"""Keeps other libraries' debug messages out of our commands' stderr and out of users' notebooks."""

import contextlib
import logging
from typing import Iterator

from ctxmt_fairseq.base.errors import printable

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


def spell_out_control_characters() -> None:
    """Have what is logged of a file, such as a name, shown and not obeyed by the terminal."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(_printable)


def _printable(record: logging.LogRecord) -> bool:
    with contextlib.suppress(TypeError, ValueError):  # a format without its values is reported later
        lines = record.getMessage().split("\n")
        record.msg, record.args = "\n".join(map(printable, lines)), None
    return True


def quiet_libraries() -> None:
    """Let libraries show warnings only; otherwise hydra, numba and matplotlib flood stderr.

    The root logger is set up first, because fairseq sets it to DEBUG only where nobody has.
    """
    logging.basicConfig()
    spell_out_control_characters()
    for name in _TALKATIVE:
        _set_level(logging.getLogger(name), logging.WARNING)
    # our own one line says that a model cannot be reached; this logger would add one for each attempt
    _set_level(logging.getLogger("huggingface_hub.utils._http"), logging.ERROR)


def _set_level(logger: logging.Logger, level: int) -> None:
    """Set a level if it differs, because after a change all loggers work out their levels anew."""
    if logger.level != level:
        logger.setLevel(level)
