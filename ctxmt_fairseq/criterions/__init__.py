"""The losses; importing this package registers them with fairseq, which it mends."""

from ctxmt_fairseq.checkpoints import fairseq_fixes  # noqa: F401
from ctxmt_fairseq.criterions import context_discounted, context_margin  # noqa: F401
