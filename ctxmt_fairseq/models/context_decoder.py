"""``--context-fusion`` and ``--context-gate``: how the decoder attends to source and context."""

import argparse
from typing import Any, Dict, Optional, Tuple

from fairseq.models.transformer import TransformerConfig
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.context_attention import ContextStates, given_context
from ctxmt_fairseq.models.blocks.encoder_out import EncoderOut
from ctxmt_fairseq.models.blocks.fusions import FUSIONS, ContextDecoderLayer
from ctxmt_fairseq.models.decoder import Decoder
from ctxmt_fairseq.models.sizes import add_options


class ContextDecoder(Decoder):
    """fairseq's decoder with the layers of ``args.context_fusion``, which read the encoder's context."""

    def __init__(self, args: Any, *more: Any, **options: Any):
        if args.context_gate not in FUSIONS[args.context_fusion].gates:
            able = ", ".join(FUSIONS.where(lambda fusion: args.context_gate in fusion.gates))
            raise BadInput(
                f"--context-gate {args.context_gate} needs --context-fusion {able}, not {args.context_fusion}"
            )
        super().__init__(args, *more, **options)

    def build_decoder_layer(self, args: Any, no_encoder_attn: bool = False) -> Any:
        fusion = FUSIONS[self.args.context_fusion]
        if not issubclass(fusion, ContextDecoderLayer):
            return super().build_decoder_layer(args, no_encoder_attn)
        first = getattr(self.args, "context_order", "") == "context-first"
        options = {"context_first": True} if first else {}  # only serial fusion has it
        return fusion(TransformerConfig.from_namespace(args), self.args.context_gate, **options)

    def extract_features(
        self, prev_output_tokens: Tensor, encoder_out: Optional[EncoderOut] = None, *args: Any, **kwargs: Any
    ) -> Tuple[Tensor, Dict[str, Any]]:
        with given_context(self, ContextStates.of(encoder_out)):
            return super().extract_features(prev_output_tokens, encoder_out, *args, **kwargs)


def add_fusion_args(parser: argparse.ArgumentParser, default: str = "serial", gate: str = "none") -> None:
    """Add the options of ``ContextDecoder``, with the defaults that ``--help`` names."""
    kinds = "; ".join(f"{name}: {fusion.description}" for name, fusion in FUSIONS.items())
    fusions = f"how the decoder attends to source and context: {kinds} (default: {default})"
    gates = f"a gate on what comes from the context, one number per token (default: {gate})"
    options = ("--context-fusion", FUSIONS, fusions), ("--context-gate", ("none", "branch"), gates)
    add_options(parser, *options)
