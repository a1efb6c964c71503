"""NOVOTNEY-CUE, a baseline of MTCue (section 3.3): one vector for all context (Novotney et al. 2022)."""

from typing import Any, Mapping

from fairseq.models import register_model

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.vector_context import mean_context
from ctxmt_fairseq.models.metadata_model import VectorEncoder, VectorModel, vector_defaults
from ctxmt_fairseq.models.sizes import register_sizes


class CueEncoder(VectorEncoder):
    """Adds the mean of the context's states as one more position of the source, if there is context."""

    def encode_context(self, context: Mapping[str, Any]) -> ContextStates:
        return mean_context(super().encode_context(context))


@register_model("cue_transformer")
class CueTransformer(VectorModel):
    """MTCue's context encoder with fairseq's decoder."""

    encoder_class = CueEncoder


register_sizes("cue_transformer", vector_defaults, big=True)
