"""NOVOTNEY-CUE, a baseline of MTCue (section 3.3): one vector for all context (Novotney et al. 2022)."""

from typing import Any, Mapping

from fairseq.models import register_model

from ctxmt_fairseq.models.metadata_model import VectorEncoder, VectorModel, vector_defaults
from ctxmt_fairseq.models.sizes import register_sizes
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.vector_context import mean_context


class CueEncoder(VectorEncoder):
    """The mean of the context's states is one more position of the source; without context there is none."""

    def encode_context(self, context: Mapping[str, Any]) -> ContextStates:
        return mean_context(super().encode_context(context))


@register_model("cue_transformer")
class CueTransformer(VectorModel):
    """MTCue's context encoder, with fairseq's decoder."""

    encoder_class = CueEncoder


def cue_defaults(args: Any) -> None:
    vector_defaults(args)
    args.context_qk_norm = getattr(args, "context_qk_norm", "yes")


register_sizes("cue_transformer", cue_defaults, big=True)
