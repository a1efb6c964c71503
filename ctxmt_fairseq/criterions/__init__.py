"""The losses; importing this package registers them with fairseq."""

from ctxmt_fairseq.criterions import context_discounted, context_margin  # noqa: F401
