"""The contract of models that read context: new architectures derive from these classes
(docs/architecture.md)."""

import argparse
from typing import Any, Dict, Mapping, Optional, Tuple, Type

import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerDecoder, TransformerEncoder, TransformerModel
from torch import Tensor, nn

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.models.decoder import Decoder
from ctxmt_fairseq.models.initialisation import sentence_model_shapes
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.encoder_out import EncoderOut, reorder_context_entries
from ctxmt_fairseq.modules.fusions import FUSIONS
from ctxmt_fairseq.modules.row_groups import encode_in_groups, named_groups

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
    """fairseq's encoder with context. ``forward`` is a template, and a subclass fills in its three steps.

    Attributes:
        context_of_source: whether the context is made of the current sentences' states, too. Then these are
            encoded first, and ``encode_context`` finds them in the batch's context as ``encoder_out``.
    """

    context_of_source = False
    _beam_size: Optional[int] = None  # None: nobody has said that rows are hypotheses

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        return_all_hiddens: bool = False,
        token_embeddings: Optional[Tensor] = None,
        context: Optional[Mapping[str, Any]] = None,
    ) -> EncoderOut:
        """As fairseq's ``forward``, with the batch's ``context``; None: it has none."""
        groups = getattr(context["sizes"], "groups", ()) if context and "sizes" in context else ()
        more = () if groups else (src_lengths, return_all_hiddens, token_embeddings)
        states: Any = None

        def encode(tokens: Tensor, rows: slice) -> EncoderOut:
            own = states.of_rows(rows) if groups and states is not None else states
            return self.encode_source(own, tokens, *more)

        if context is not None and not self.context_of_source:
            states = self.encode_context(context)
        encoder_out = encode_in_groups(encode, src_tokens, groups, left=True)
        if context is not None and self.context_of_source:
            states = self.encode_context({**context, "encoder_out": encoder_out})
        named = named_groups(groups, states, src_tokens.size(1))
        return {**self.for_decoder(encoder_out, states), **named}

    def encode_context(self, context: Mapping[str, Any]) -> Any:
        """Turn what the dataset's ``context_batch`` returns into ``ContextStates``."""
        raise NotImplementedError

    def encode_source(self, context: Any, *source: Any) -> EncoderOut:
        """Return the current sentences' ``encoder_out``; here fairseq's, which reads no context.

        Args:
            context: what ``encode_context`` has returned, or None.
            source: the arguments of fairseq's ``forward``.
        """
        return self.forward_scriptable(*source)

    def for_decoder(self, encoder_out: EncoderOut, context: Optional[ContextStates]) -> EncoderOut:
        """Return what the decoder gets: the context as ``--context-fusion`` wants it. In models without this
        option the context's states are further positions of the source."""
        if context is None:
            return encoder_out
        return FUSIONS[getattr(self.args, "context_fusion", "flat")].for_decoder(encoder_out, context)

    def set_beam_size(self, beam_size: Optional[int]) -> None:
        """Say that in a search so many rows in turn are of the same sentence. fairseq's decoders have this
        method, too."""
        self._beam_size = beam_size

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        """Take the rows ``new_order``. In a search, as long as the number of rows stays the same, rows change
        places only with hypotheses of the same sentence, whose states are the same."""
        if self._beam_size is not None and len(new_order) == encoder_out["encoder_out"][0].size(1):
            return encoder_out
        reordered = super().reorder_encoder_out(encoder_out, new_order)
        return reorder_context_entries(reordered, encoder_out, new_order)


class ContextModel(TransformerModel):
    """fairseq's transformer with an encoder that reads context; it can start from a sentence-level model.

    Attributes:
        encoder_class, decoder_class: made from fairseq's options and ours.
        sentence_parameters: the names and shapes of the parameters that a sentence-level model of this size
            has; the others are the context's.
    """

    encoder_class: Type[TransformerEncoder] = ContextEncoder
    decoder_class: Type[TransformerDecoder] = Decoder
    sentence_parameters: Mapping[str, torch.Size] = {}
    context_format: Any = ContextFormat()  # what the model reads; a property if an option decides it

    @classmethod
    def build_model(cls, args: Any, task: Any) -> Any:
        """Refuse to share the embeddings of two dictionaries."""
        shares = getattr(args, "share_all_embeddings", False)
        if shares and task.source_dictionary != task.target_dictionary:
            raise BadInput(
                "--share-all-embeddings needs a joined dictionary, found two "
                f"(--arch {getattr(args, 'arch', '')} may set it; without _base it does not)"
            )
        model = super().build_model(args, task)
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
        parser.add_argument(
            "--train-context-only",
            action="store_true",
            help="freeze all parameters that a sentence-level model has",
        )

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
