"""Makes the plugin known to fairseq, once fairseq is imported."""

import functools

from ctxmt_fairseq.after_import import AfterImport


@functools.cache
def register() -> None:
    """Mend fairseq, and register tasks, architectures and criterions with it."""
    from ctxmt_fairseq import fairseq_fixes

    fairseq_fixes.apply()

    from ctxmt_fairseq import criterions, models, tasks  # noqa: F401  (importing them registers them)


WITH_FAIRSEQ = AfterImport("fairseq", "ctxmt_fairseq", register)
