"""Keeps other libraries' messages and warnings out of our commands' stderr and of users' notebooks.

``logging`` is imported late, because a --help does without it.
"""

import contextlib
import warnings
from typing import TYPE_CHECKING, Iterator

if TYPE_CHECKING:
    import logging

from ctxmt_fairseq.base.errors import printable

_TALKATIVE = (None, "hydra", "numba", "matplotlib", "fairseq", "h5py", "umap", "sentence_transformers")


@contextlib.contextmanager
def root_logger_kept() -> Iterator[None]:
    """Leave the root logger as it is. Importing fairseq makes it write everything from DEBUG on to stderr,
    unless somebody has set it up before."""
    import logging

    root, talks = logging.getLogger(), logging.getLogger("fairseq.tasks.text_to_speech")  # at every import
    level, handlers, talks_from = root.level, list(root.handlers), talks.level
    _set_level(talks, logging.WARNING)
    try:
        yield
    finally:
        _set_level(root, level)
        _set_level(talks, talks_from)
        root.handlers[:] = handlers


def spell_out_control_characters() -> None:
    """Have what is logged of a file, such as a name, shown and not obeyed by the terminal."""
    import logging

    for handler in logging.getLogger().handlers:
        handler.addFilter(_printable)


def _printable(record: "logging.LogRecord") -> bool:
    with contextlib.suppress(TypeError, ValueError):  # a format without its values is reported later
        lines = record.getMessage().split("\n")
        record.msg, record.args = "\n".join(map(printable, lines)), None
    return True


def quiet_libraries() -> None:
    """Let libraries show warnings only; otherwise hydra, numba and matplotlib flood stderr. Each is shown
    once, in a line as our own.

    The root logger is set up first, because fairseq sets it to DEBUG only where nobody has.
    """
    import logging

    class Line(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return f"ctxmt: {record.levelname.lower()}: {record.getMessage()}"

    shown = set[str]()

    def new(record: logging.LogRecord) -> bool:
        before = len(shown)
        shown.add(record.getMessage())
        return len(shown) > before

    lines = logging.StreamHandler()
    lines.setFormatter(Line())
    lines.addFilter(new)
    logging.basicConfig(handlers=[lines])
    warnings.showwarning = lambda message, *_: logging.getLogger("py.warnings").warning("%s", message)
    masks_of_two_types()
    spell_out_control_characters()
    for name in _TALKATIVE:
        _set_level(logging.getLogger(name), logging.WARNING)
    # our own one line says that a model cannot be reached; this logger would add one for each attempt
    _set_level(logging.getLogger("huggingface_hub.utils._http"), logging.ERROR)


def masks_of_two_types() -> None:
    """Silence torch's warning that fairseq passes a boolean padding mask with a float causal mask."""
    warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask")


def _set_level(logger: "logging.Logger", level: int) -> None:
    """Set a level if it differs, because after a change all loggers work out their levels anew."""
    if logger.level != level:
        logger.setLevel(level)
