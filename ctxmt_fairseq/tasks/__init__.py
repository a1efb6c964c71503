"""The tasks; importing this package registers them, the criterions and the architectures with fairseq."""

from ctxmt_fairseq import criterions, models  # noqa: F401
from ctxmt_fairseq.checkpoints import fairseq_fixes
from ctxmt_fairseq.models.sizes import size_stock_transformer
from ctxmt_fairseq.tasks import document_window, metadata_context, multi_source  # noqa: F401
from ctxmt_fairseq.tasks.unread_options import check_best_metric, refuse_unread

size_stock_transformer(fairseq_fixes.is_ours)
fairseq_fixes.CHECKS += refuse_unread, check_best_metric
