"""Context-aware machine translation with fairseq: ``fairseq-train --user-dir ctxmt_fairseq``."""

from ctxmt_fairseq import fairseq_fixes

fairseq_fixes.apply()

from ctxmt_fairseq import criterions, models, tasks  # noqa: E402,F401  (importing them registers them)
