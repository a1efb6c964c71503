"""The contract of models that read context: what a new architecture derives from (docs/extending.md).

It is a ``ContextModel``, most often a ``MultiSourceModel`` or a ``MetadataModel``, which says what context it
reads (``context_format``), and whose ``ContextEncoder`` makes states of it (``encode_context``). The decoder
attends to these behind those of the source, and nothing else is asked of an architecture.
"""

import argparse
from typing import Any, Dict, Mapping, Optional, Tuple, Type

import torch
import torch.nn.functional as F
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerDecoder, TransformerEncoder, TransformerModel
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.exit_codes import hook_command
from ctxmt_fairseq.data.context_format import ContextFormat, ContextRequest
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.encoder_out import PREFIX, EncoderOut
from ctxmt_fairseq.models.blocks.fusions import FUSIONS
from ctxmt_fairseq.models.blocks.marian import make_marian
from ctxmt_fairseq.models.blocks.row_groups import GROUPS, encode_in_groups
from ctxmt_fairseq.models.decoder import Decoder
from ctxmt_fairseq.models.initialisation import sentence_model_shapes
from ctxmt_fairseq.models.sizes import add_options

_UNSUPPORTED = (
    "checkpoint_activations",
    "no_cross_attention",
    "cross_self_attention",
    "scale_attn",
    "scale_heads",
    "scale_fc",
    "scale_resids",
)


def check_task(task: Any, model: Any, args: Any) -> None:
    """Refuse a task that gives no context for a model, or its class, that reads one."""
    if isinstance(task, FairseqTask) and not hasattr(task, "request"):
        ContextRequest().adopt(model, args.arch)


class ContextEncoder(TransformerEncoder):
    """fairseq's encoder with context. Nobody overrides ``forward``, which takes three steps:

    1. ``encode_context(context)`` returns the context's states. Every subclass has it.
    2. ``encode_source(states, *source)`` returns fairseq's ``encoder_out`` of the current sentences.
    3. ``for_decoder(encoder_out, states)`` returns what the decoder is given.

    Without context in the batch, the first step is left out, the states are None, and the result is
    fairseq's. A row that has no context must get that result too, whatever the other rows have. In a beam
    search the entries of ``encoder_out`` whose names begin with ``context_``, tensors (B, ...), are reordered
    with its rows.

    A batch of ``--batch-runs`` names groups of rows of like length. Then the second step is taken group by
    group, with the group's part of the states; no subclass needs to know.

    Attributes:
        context_of_source: whether the context is also made of the current sentences' states: then the second
            step comes first, without states, and ``context`` has its result as ``encoder_out``.
    """

    context_of_source = False

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        return_all_hiddens: bool = False,
        token_embeddings: Optional[Tensor] = None,
        context: Optional[Mapping[str, Any]] = None,
    ) -> EncoderOut:
        """As fairseq's ``forward``, with the batch's ``context``; None: it has none."""
        sizes = context.get("sizes") if context is not None else None
        groups = sizes.groups if sizes is not None else ()
        states: Any = None
        if context is not None and not self.context_of_source:
            states = self.encode_context(context)

        def encode(tokens: Tensor, rows: slice) -> EncoderOut:
            if not groups:
                return self.encode_source(states, tokens, src_lengths, return_all_hiddens, token_embeddings)
            return self.encode_source(None if states is None else states.of_rows(rows), tokens)

        encoder_out = encode_in_groups(encode, src_tokens, groups, left=True)
        if context is not None and self.context_of_source:
            states = self.encode_context({**context, "encoder_out": encoder_out})
        found = self.for_decoder(encoder_out, states)
        if groups:
            counts = None if states is None else states.counts
            found = {**found, GROUPS: [groups, counts, src_tokens.size(1)]}
        return found

    def encode_context(self, context: Mapping[str, Any]) -> Any:
        """Return the context's states: ``ContextStates``, if the other steps are the default ones.

        Args:
            context: the batch's, with the entries of the model's ``context_format``.
        """
        raise NotImplementedError

    def encode_source(self, context: Any, *source: Any) -> EncoderOut:
        """Return the current sentences' ``encoder_out``; here fairseq's, which reads no context.

        Args:
            context: what ``encode_context`` returned for these rows, or None.
            source: the arguments of fairseq's ``forward``.
        """
        return self.forward_scriptable(*source)

    def for_decoder(self, encoder_out: EncoderOut, context: Optional[ContextStates]) -> EncoderOut:
        """Return what the decoder gets: the context as ``--context-fusion`` wants it. In models without this
        option the context's states are further positions of the source."""
        if context is None:
            return encoder_out
        return FUSIONS[getattr(self.args, "context_fusion", "flat")].for_decoder(encoder_out, context)

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        reordered = super().reorder_encoder_out(encoder_out, new_order)  # without what fairseq does not know
        for name, entries in encoder_out.items():
            if name.startswith(PREFIX):
                reordered[name] = [entry.index_select(0, new_order) for entry in entries]
        return reordered


class ContextModel(TransformerModel):
    """fairseq's transformer with an encoder that reads context; it can start from a sentence-level model.

    Attributes:
        context_format: what the model reads, a ``ContextFormat``; a property if an option decides it.
        encoder_class, decoder_class: made from fairseq's options and ours.
        sentence_parameters: the names and shapes of the parameters that a sentence-level model of this size
            has; the others are the context's.
    """

    encoder_class: Type[TransformerEncoder] = ContextEncoder
    decoder_class: Type[TransformerDecoder] = Decoder
    sentence_parameters: Mapping[str, torch.Size] = {}
    context_format: Any = ContextFormat()

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        hook_command()  # with --task translation, no task of ours does
        for action in parser._actions:
            if action.dest == "activation_fn":
                action.choices = [*(action.choices or ()), "swish"]
        marian = "compute what Marian's transformers (OPUS-MT) do: their table of positions, a bias of the "
        marian += "output, and a decoder that begins with <pad>; most of them have --activation-fn swish"
        add_options(parser, ("--marian", bool, marian))

    @classmethod
    def build_model(cls, args: Any, task: Any) -> Any:
        """Refuse to share the embeddings of two dictionaries, and a task that gives no context."""
        shares = getattr(args, "share_all_embeddings", False)
        if shares and task.source_dictionary != task.target_dictionary:
            raise BadInput(
                "--share-all-embeddings needs a joined dictionary, found two "
                f"(--arch {getattr(args, 'arch', '')} may set it; without _base it does not)"
            )
        model = super().build_model(args, task)
        for layer in model.modules():
            if getattr(layer, "activation_fn", None) is nn.SiLU:  # fairseq's swish, a class, cannot be called
                layer.activation_fn = F.silu
        if getattr(args, "marian", False):
            make_marian(model)
        check_task(task, model, args)
        model.sentence_parameters = sentence_model_shapes(args, task)
        return model

    @classmethod
    def build_encoder(cls, args: Any, src_dict: Dictionary, embed_tokens: nn.Embedding) -> TransformerEncoder:
        return cls.encoder_class(args, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Dictionary, embed_tokens: nn.Embedding) -> TransformerDecoder:
        return cls.decoder_class(args, tgt_dict, embed_tokens, no_encoder_attn=args.no_cross_attention)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        return_all_hiddens: bool = True,
        context: Optional[Mapping[str, Any]] = None,
        **inputs: Any,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        """As fairseq's ``forward``, with the batch's context."""
        encoder_out = self.encoder(src_tokens, src_lengths, return_all_hiddens, context=context)
        return self.decoder(
            prev_output_tokens,
            encoder_out=encoder_out,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            **inputs,
        )


class SeparateContextModel(ContextModel):
    """A model that reads its context besides the source."""

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        only = "freeze all parameters that a sentence-level model has"
        add_options(parser, ("--train-context-only", bool, only))

    @classmethod
    def build_model(cls, args: Any, task: Any) -> Any:
        """Refuse options of fairseq's that the context layers do not have."""
        for name in _UNSUPPORTED:
            if getattr(args, name, False):
                raise BadInput(f"{flag(name)} does not work with --arch {args.arch}")
        model = super().build_model(args, task)
        if getattr(args, "train_context_only", False):
            for name, parameter in model.named_parameters():
                parameter.requires_grad = name not in model.sentence_parameters
            if not any(parameter.requires_grad for parameter in model.parameters()):
                raise BadInput(
                    "--train-context-only: this model has nothing but a sentence-level one to train"
                )
        return model


class MultiSourceModel(SeparateContextModel):
    """A model for the task ``multi_source``, whose context is sentences."""

    context_format: Any = ContextFormat("rows")
