"""The architectures; importing this package registers them with fairseq."""

from ctxmt_fairseq.models import concat_transformer  # noqa: F401
