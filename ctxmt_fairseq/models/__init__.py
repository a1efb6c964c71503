"""The architectures; importing this package registers them with fairseq, which it mends."""

from ctxmt_fairseq.checkpoints import fairseq_fixes  # noqa: F401
from ctxmt_fairseq.models import (  # noqa: F401
    caching_transformer,
    concat_transformer,
    context_encoder_transformer,
    context_gru,
    cue_transformer,
    dual_encoder_transformer,
    gated_context_transformer,
    mtcue_transformer,
    tagging_transformer,
)
