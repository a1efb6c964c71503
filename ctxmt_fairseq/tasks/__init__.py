"""The tasks; importing this package registers them with fairseq."""

import ctxmt_fairseq.tasks.document_window  # noqa: F401
import ctxmt_fairseq.tasks.metadata_context  # noqa: F401
import ctxmt_fairseq.tasks.multi_source  # noqa: F401
from ctxmt_fairseq.models.sizes import size_stock_transformer

size_stock_transformer(("document_window", "metadata_context", "multi_source"))
