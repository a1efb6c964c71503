"""The plugin's tasks, architectures and criterions, made known to fairseq."""

import functools

from ctxmt_fairseq.base import loggers
from ctxmt_fairseq.base.put_off import put_back, put_off

PACKAGES = ("fairseq", "fairseq-fixed")  # whose module is called fairseq


def register() -> None:
    """Import fairseq, and register the tasks, architectures and criterions with it, once. Commands call it
    before they import what imports fairseq, which takes longer without what is put off here."""
    warn_of_two_fairseqs()
    put_off()
    try:
        with loggers.root_logger_kept():
            from ctxmt_fairseq import tasks  # noqa: F401  (importing them registers them, and all below them)
    finally:
        put_back()


@functools.cache
def warn_of_two_fairseqs() -> None:
    """Say that pip has installed one fairseq over another: neither can then be uninstalled alone."""
    import contextlib  # here, because a --help does without these
    import logging
    from importlib import metadata

    installed = []
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed.append(f"{name} {metadata.version(name)}")
    if len(installed) > 1:
        logging.getLogger(__name__).warning(
            "%s are installed over each other; to have one: pip uninstall -y fairseq fairseq-fixed, then "
            "pip install fairseq-fixed, or the other one and this plugin with --no-deps",
            " and ".join(installed),
        )
