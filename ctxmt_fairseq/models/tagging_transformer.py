"""TAGGING, a baseline of MTCue (section 3.3): a learned embedding for each value of the metadata."""

from typing import Any, Mapping

from fairseq.data import Dictionary
from fairseq.models import register_model
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.context_embeddings import embedding_table
from ctxmt_fairseq.models.context_model import ContextEncoder
from ctxmt_fairseq.models.metadata_model import MetadataModel
from ctxmt_fairseq.models.sizes import register_sizes


class TaggingEncoder(ContextEncoder):
    """Adds the tags' embeddings as further positions of the source encoder's output.

    The paper puts them before it. Here they are after it, which makes no difference to attention.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.context_tags = embedding_table(args.tag_count, embed_tokens.embedding_dim)
        nn.init.zeros_(self.context_tags.weight[0])  # <unk>, which says nothing unless the training has it
        # older checkpoints lack this option
        dropout = getattr(args, "context_feature_dropout", None) or 0.0
        self.context_dropout = FairseqDropout(dropout, module_name=type(self).__name__)

    def encode_context(self, context: Mapping[str, Tensor]) -> ContextStates:
        """Turn tags, LongTensor (B, M), into states: 0 is <unk>, 1 and more are tags, -1 is nothing."""
        context_tags = context["tags"]
        # Scaled as fairseq scales words, so that they are as large as the states beside them.
        states = self.context_dropout(self.embed_scale * self.context_tags(context_tags.clamp(min=0)))
        return ContextStates(states, context_tags.lt(0))


@register_model("tagging_transformer")
class TaggingTransformer(MetadataModel):
    """fairseq's transformer with tags; ``_base`` has about as many parameters as MTCue's (table 3)."""

    encoder_class = TaggingEncoder
    context_format = ContextFormat("tags")
    measured = {"tag_count": lambda task: int(task.tag_count)}


register_sizes(
    "tagging_transformer",
    base={"encoder_layers": 10, "encoder_ffn_embed_dim": 4096, "decoder_ffn_embed_dim": 2048},
    big=True,
)
