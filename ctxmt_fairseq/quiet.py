"""Keeps other libraries' debug messages out of our commands' stderr, and of users' notebooks."""

import contextlib
import logging
from typing import Iterator


@contextlib.contextmanager
def root_logger_kept() -> Iterator[None]:
    """Leave the root logger as it is, whatever is imported: fairseq has it write all to stderr, from DEBUG
    on, unless somebody has set it up before."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def quiet_libraries() -> None:
    """Show warnings only; else hydra, numba and matplotlib flood stderr.

    fairseq sets the root logger to DEBUG when it is imported, but only where nobody has set it up before.
    """
    logging.basicConfig()
    logging.getLogger().setLevel(logging.WARNING)
    for name in ("hydra", "numba", "matplotlib", "fairseq", "h5py", "umap", "sentence_transformers"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # a model that is not reachable is one line of ours, not one for each attempt
    logging.getLogger("huggingface_hub.utils._http").setLevel(logging.ERROR)
