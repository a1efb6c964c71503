"""``--context-fusion`` and ``--context-gate``: how the decoder attends to source and context."""

import argparse
from typing import Any, Dict, Optional, Tuple

from fairseq.models.transformer import TransformerConfig, TransformerDecoder
from torch import Tensor

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.modules.context_attention import ContextStates, given_context
from ctxmt_fairseq.modules.context_layers import FUSIONS, LAYER_FUSIONS, ContextDecoderLayer
from ctxmt_fairseq.modules.encoder_out import EncoderOut


class ContextDecoder(TransformerDecoder):
    """fairseq's decoder, whose layers attend to the ``ContextStates`` in ``encoder_out``.

    ``args.context_fusion``, ``args.context_gate`` and ``args.context_order`` say how.
    """

    def build_decoder_layer(self, args: Any, no_encoder_attn: bool = False) -> Any:
        if self.args.context_fusion not in LAYER_FUSIONS:
            return super().build_decoder_layer(args, no_encoder_attn)
        return ContextDecoderLayer(
            TransformerConfig.from_namespace(args),
            self.args.context_fusion,
            self.args.context_gate,
            getattr(self.args, "context_order", "") == "context-first",
        )

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: Optional[EncoderOut] = None,
        *args: Any,
        **kwargs: Any,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        with given_context(self, ContextStates.of(encoder_out)):
            return super().extract_features(prev_output_tokens, encoder_out, *args, **kwargs)


def add_fusion_args(parser: argparse.ArgumentParser, default: str = "serial", gate: str = "none") -> None:
    """The options of ``ContextDecoder``, and what their help says of the defaults."""
    parser.add_argument(
        "--context-fusion",
        choices=FUSIONS,
        help="how the decoder attends to source and context: one after the other, the sum, two branches with "
        "a layer norm each, a second attention over the two, or one attention over all states (flat, alias "
        f"concat) (default: {default})",
    )
    parser.add_argument(
        "--context-gate",
        choices=("none", "branch"),
        help=f"a gate on what comes from the context, one number per token (default: {gate})",
    )


def check_fusion(args: Any) -> None:
    """Raises BadInput: a gate without an attention of its own to the context."""
    if args.context_gate != "none" and args.context_fusion not in LAYER_FUSIONS:
        raise BadInput(
            f"--context-gate {args.context_gate}: expected --context-fusion {', '.join(LAYER_FUSIONS)}, "
            f"not {args.context_fusion}"
        )
