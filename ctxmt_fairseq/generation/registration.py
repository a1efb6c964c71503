"""The plugin's tasks, architectures and criterions, made known to fairseq."""

from ctxmt_fairseq.base import loggers


def register() -> None:
    """Import fairseq, mend it, and register the tasks, architectures and criterions with it.

    Call this first in a program that imports this package before fairseq and then asks fairseq for one of
    them by its name. A second call does nothing.
    """
    with loggers.root_logger_kept():
        from ctxmt_fairseq import tasks  # noqa: F401  (importing them registers them, and all below them)
