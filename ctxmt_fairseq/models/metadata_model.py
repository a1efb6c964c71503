"""The base of the models of the task ``metadata_context``."""

import argparse
from typing import Any, Callable, Dict, Mapping

from fairseq.data import Dictionary
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.vector_context import INPUTS, VectorContextEncoder
from ctxmt_fairseq.models.context_model import ContextEncoder, SeparateContextModel, check_task
from ctxmt_fairseq.models.sizes import add_options, set_defaults


class MetadataModel(SeparateContextModel):
    """A model for the task ``metadata_context``.

    Attributes:
        measured: functions that measure something of the task when a model is first built. ``args`` keeps the
            values by these names, and so the checkpoint: evaluation does not depend on the training data.
    """

    measured: Dict[str, Callable[[Any], Any]] = {}

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        dropout = "dropout of the elements of embedded contexts (--context-dropout leaves out whole ones) "
        dropout += "(default: --dropout; tagging_transformer 0)"
        add_options(parser, ("--context-feature-dropout", float, dropout))

    @classmethod
    def build_model(cls, args: Any, task: Any) -> Any:
        dropout = getattr(args, "context_feature_dropout", None)
        if dropout is not None and not 0 <= dropout < 1:
            raise BadInput(f"--context-feature-dropout {dropout}: expected a probability below 1")
        check_task(task, cls, args)
        for name, measure in cls.measured.items():
            if getattr(args, name, None) is None:
                setattr(args, name, measure(task))
        return super().build_model(args, task)


class VectorEncoder(ContextEncoder):
    """The source encoder, with an encoder of the context's vectors beside it."""

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        self.context_encoder = VectorContextEncoder(
            args,
            args.vector_dimension,
            args.context_layers,
            args.context_ffn_dim,
            args.farthest_context + 1 if args.context_positions == "yes" else None,
            args.context_qk_norm != "no",
            # older checkpoints lack these options
            input=getattr(args, "context_input", "plain"),
            feature_dropout=getattr(args, "context_feature_dropout", None),
        )

    def encode_context(self, context: Mapping[str, Tensor]) -> ContextStates:
        return self.context_encoder(context["vectors"], context["distances"])


class VectorModel(MetadataModel):
    """A model with MTCue's context encoder."""

    encoder_class = VectorEncoder
    context_format = ContextFormat("vectors")
    measured = {
        "vector_dimension": lambda task: int(task.vector_dimension),
        "contexts_per_sample": lambda task: float(task.contexts_per_sample),
        "farthest_context": lambda task: int(task.context_options().source_context),
    }

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_options(
            parser,
            ("--context-layers", int,
             "layers of the context encoder; 0: none, the projected vectors are the context (default: as "
             "many as the source encoder's)"),
            ("--context-ffn-dim", int,
             "width of their feed-forward networks (default: the source encoder's)"),
            ("--context-positions", ("yes", "no"),
             "whether vectors of sentences are marked with their distance (default: yes)"),
            ("--farthest-context", int,
             "rows of the table of distances, 0 to N, as of the model to start from (default: "
             "--source-context)"),
            ("--context-qk-norm", ("yes", "no", "all"),
             "normalise queries and keys in the context encoder (yes: the paper's rule), or in all of "
             "the decoder's attentions, too (all: its program's) (default: yes)"),
            ("--context-input", INPUTS,
             "what the context encoder's layers read: the projected vectors, these scaled and "
             "normalised, or the same from tiny initial values (default: plain)"),
        )  # fmt: skip

    @classmethod
    def build_model(cls, args: Any, task: Any) -> Any:
        for name, least in (("context_layers", 0), ("context_ffn_dim", 1), ("farthest_context", 0)):
            value = getattr(args, name, None)
            if value is not None and value < least:
                raise BadInput(f"{flag(name)} {value}: expected {least} or more")
        if args.context_qk_norm == "all" and not hasattr(args, "context_fusion"):
            raise BadInput(f"--context-qk-norm all needs --arch mtcue_transformer, not {args.arch}")
        return super().build_model(args, task)


def vector_defaults(args: Any) -> None:
    """Set the defaults of MTCue's table 3: the context encoder has the dimensions of the source encoder."""
    set_defaults(
        args,
        context_layers=getattr(args, "encoder_layers", 6),
        context_ffn_dim=getattr(args, "encoder_ffn_embed_dim", 2048),
        context_positions="yes",
        context_input="plain",
        context_qk_norm="yes",
    )
