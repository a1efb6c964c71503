"""The tasks; importing this package registers them with fairseq."""

from ctxmt_fairseq.tasks import document_window  # noqa: F401
