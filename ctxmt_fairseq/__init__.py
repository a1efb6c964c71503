"""Context-aware machine translation with fairseq: ``fairseq-train --user-dir ctxmt_fairseq``."""

import logging

from ctxmt_fairseq import edge

edge.hook_commands()  # first: what follows takes seconds, in which a command may be interrupted

logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)  # talks at every import

from ctxmt_fairseq import fairseq_fixes  # noqa: E402

fairseq_fixes.apply()

from ctxmt_fairseq import criterions, models, tasks  # noqa: E402,F401  (importing them registers them)
