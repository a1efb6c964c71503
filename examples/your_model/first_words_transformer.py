"""An architecture: the decoder attends to the source and to the first words of every context sentence."""

import argparse
from typing import Any, Mapping

from fairseq.models import register_model

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.context_rows import gather_context
from ctxmt_fairseq.models.blocks.shortening import build_shortening
from ctxmt_fairseq.models.context_model import MultiSourceModel
from ctxmt_fairseq.models.rows_encoder import RowsEncoder
from ctxmt_fairseq.models.sizes import register_sizes

from . import first_words  # noqa: F401  (importing it registers it)


class FirstWordsEncoder(RowsEncoder):
    """The source encoder reads every context sentence, too."""

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        super().__init__(args, dictionary, embed_tokens)
        heads = args.encoder_attention_heads
        self.shortening = build_shortening(
            "first-words", embed_tokens.embedding_dim, heads, size=args.first_words
        )

    def encode_context(self, context: Mapping[str, Any]) -> ContextStates:
        states, padding = self.shortening(*self.encode_sentences(context))  # (R, K', D), (R, K')
        return gather_context(states, padding, context, self.shortening.vectors)


@register_model("first_words_transformer")
class FirstWordsTransformer(MultiSourceModel):
    """For the task ``multi_source``; the context's states stand behind those of the source."""

    encoder_class = FirstWordsEncoder

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        parser.add_argument(
            "--first-words", type=int, metavar="K", help="subwords of a context sentence (default: 4)"
        )


def defaults(args: Any) -> None:
    args.first_words = getattr(args, "first_words", 4)


register_sizes("first_words_transformer", defaults)
