"""What the models that read context besides the source have in common."""

import argparse
from typing import Any, Dict, List, Optional, Tuple

import torch
from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoder,
    TransformerEncoder,
    TransformerModel,
)
from torch import Tensor

from ctxmt_fairseq.data.multi_source_dataset import ContextFormat
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.modules.context_attention import ContextStates, given_context
from ctxmt_fairseq.modules.context_layers import FUSIONS, LAYER_FUSIONS, ContextDecoderLayer
from ctxmt_fairseq.modules.encoder_out import reorder_context_entries

_UNSUPPORTED = (
    "checkpoint_activations",
    "no_cross_attention",
    "cross_self_attention",
    "scale_attn",
    "scale_heads",
    "scale_fc",
    "scale_resids",
)


class ContextEncoder(TransformerEncoder):
    """fairseq's encoder whose ``encoder_out`` may hold ``ContextStates``."""

    _beam_size = 1

    def set_beam_size(self, beam_size: int) -> None:
        """As many rows in turn continue the same sentence (fairseq's decoders have this method too)."""
        self._beam_size = beam_size

    def reorder_encoder_out(
        self, encoder_out: Dict[str, List[Tensor]], new_order: Tensor
    ) -> Dict[str, List[Tensor]]:
        rows = torch.arange(encoder_out["encoder_out"][0].size(1), device=new_order.device)
        if torch.equal(new_order // self._beam_size, rows // self._beam_size):
            return encoder_out  # the hypotheses of a sentence have changed places: its states are the same
        reordered = super().reorder_encoder_out(encoder_out, new_order)
        return reorder_context_entries(reordered, encoder_out, new_order)


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
        encoder_out: Optional[Dict[str, List[Tensor]]] = None,
        *args: Any,
        **kwargs: Any,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        with given_context(self, ContextStates.of(encoder_out)):
            return super().extract_features(prev_output_tokens, encoder_out, *args, **kwargs)


class ContextModel(TransformerModel):
    """fairseq's transformer with further inputs for the encoder.

    Attributes:
        context_inputs: names of the entries that the model wants in ``net_input`` besides fairseq's own.
    """

    context_inputs: Tuple[str, ...] = ()

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        return_all_hiddens: bool = True,
        **inputs: Any,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        """fairseq's ``forward``, which refuses inputs it does not know, with ``context_inputs``."""
        context = {name: inputs.pop(name) for name in self.context_inputs if name in inputs}
        encoder_out = self.encoder(src_tokens, src_lengths, return_all_hiddens, **context)
        return self.decoder(
            prev_output_tokens,
            encoder_out=encoder_out,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            **inputs,
        )


class SeparateContextModel(ContextModel):
    """A model that reads its context besides the source, and can start from a sentence-level one."""

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        parser.add_argument(
            "--sentence-checkpoint",
            metavar="FILE",
            help="start from this sentence-level model: all parameters that it has are taken over",
        )
        parser.add_argument(
            "--train-context-only",
            action="store_true",
            help="freeze all parameters that a sentence-level model has",
        )

    @classmethod
    def build_model(cls, args: Any, task: Any) -> Any:
        """Raises BadInput: an option of fairseq's that the context layers do not have."""
        for name in _UNSUPPORTED:
            if getattr(args, name, False):
                raise BadInput(f"--{name.replace('_', '-')} does not work with --arch {args.arch}")
        model = super().build_model(args, task)
        if getattr(args, "train_context_only", False):
            for name, parameter in model.named_parameters():
                parameter.requires_grad = "context_" in name
            if not any(parameter.requires_grad for parameter in model.parameters()):
                raise BadInput("--train-context-only: this model has only what a sentence-level one has")
        return model

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> TransformerDecoder:
        return ContextDecoder(args, tgt_dict, embed_tokens)


class MultiSourceModel(SeparateContextModel):
    """A model for the task ``multi_source``.

    Attributes:
        context_format: how it wants the context's sentences.
    """

    context_inputs: Tuple[str, ...] = ("context_tokens", "context_index")
    context_format = ContextFormat()


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
