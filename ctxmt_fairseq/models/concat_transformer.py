"""Focused concatenation (Lupo et al. 2022): a transformer that tells the sentences of its window apart."""

import argparse
import re
from contextlib import nullcontext
from typing import Any, ContextManager, Dict, Mapping, Optional, Tuple, Union

from fairseq.data import Dictionary
from fairseq.models import register_model
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.models.blocks.encoder_out import EncoderOut
from ctxmt_fairseq.models.blocks.segment_positions import KINDS, SegmentPositions, average_sentence_length
from ctxmt_fairseq.models.context_model import ContextEncoder, ContextModel
from ctxmt_fairseq.models.decoder import Decoder
from ctxmt_fairseq.models.sizes import add_options, register_sizes
from ctxmt_fairseq.text.symbols import SEPARATOR

RowValues = Tuple[Optional[Tensor], Optional[Tensor]]
ROW_VALUES = "context_row_values"  # in encoder_out: what SegmentPositions.given needs in the decoder

# What --segment-types make of a segment k, in the encoder and in the decoder, whose window ends with the
# current sentence: a model that goes on stays in that segment.
RELATIVE: Dict[str, Any] = {
    "sentence": (None, None),
    "context": (lambda k, current, position: k != current, lambda k, current, position: k < current),
    "distance": (
        lambda k, current, position: (current - k).abs(),
        lambda k, current, position: (current - k).clamp(min=0) * (position > 1),
    ),
}


def segment_shift(text: str) -> Union[int, str]:
    """Read ``--segment-shift``: a number of positions, ``avg-corpus`` or ``avg-sequence``."""
    if text in ("avg-corpus", "avg-sequence"):
        return text
    if not re.fullmatch("[0-9]{1,6}", str(text)):
        raise argparse.ArgumentTypeError(
            f"expected a number of positions, avg-corpus or avg-sequence, found {text!r}"
        )
    return int(text)


class ConcatTransformerEncoder(ContextEncoder):
    """fairseq's encoder with ``SegmentPositions``."""

    def encode_context(self, context: Mapping[str, Tensor]) -> RowValues:
        """Give what ``SegmentPositions`` must know of each row, in the encoder and in the decoder."""
        if self.embed_positions.kind == "flag":
            return context["current_span"], None
        return context["current_segment"], context["target_context_sizes"]

    def row_values(self, tokens: Tensor, context: Optional[RowValues]) -> RowValues:
        """Give the rows' values of source tokens (B, S); None: the positions need none.

        Args:
            context: what ``encode_context`` returned.
        """
        positions = self.embed_positions
        if not getattr(positions, "needs_row_values", False):
            return None, None
        if positions.kind == "shift":
            average = average_sentence_length(tokens, positions.separator, self.padding_idx)
            return average, average
        if context is None:
            option = "--segment-positions flag" if positions.kind == "flag" else "--segment-types"
            raise BadInput(f"{option} needs --task document_window, which says where sentences are")
        return context

    def encode_source(self, context: Optional[RowValues], *source: Any) -> EncoderOut:
        ours, for_decoder = self.row_values(source[0], context)
        if ours is None:
            return super().encode_source(None, *source)
        with self.embed_positions.given(ours):
            encoder_out = super().encode_source(None, *source)
        return encoder_out if for_decoder is None else {**encoder_out, ROW_VALUES: [for_decoder]}

    def for_decoder(self, encoder_out: EncoderOut, context: Any) -> EncoderOut:
        return encoder_out  # the context is in the source, and encode_source has added the decoder's values


class ConcatTransformerDecoder(Decoder):
    """fairseq's decoder with ``SegmentPositions``."""

    def positions_given(self, encoder_out: Optional[EncoderOut]) -> ContextManager[None]:
        """Make a block in which ``self.embed_positions`` may be called for the rows of ``encoder_out``."""
        if not getattr(self.embed_positions, "needs_row_values", False):
            return nullcontext()
        return self.embed_positions.given(encoder_out[ROW_VALUES][0])  # type: ignore[index]

    def extract_features(
        self, prev_output_tokens: Tensor, encoder_out: Optional[EncoderOut] = None, *args: Any, **kwargs: Any
    ) -> Tuple[Tensor, Dict[str, Any]]:
        with self.positions_given(encoder_out):
            return super().extract_features(prev_output_tokens, encoder_out, *args, **kwargs)


@register_model("concat_transformer")
class ConcatTransformer(ContextModel):
    """fairseq's transformer whose positions tell the sentences of a window apart, on both sides."""

    encoder_class = ConcatTransformerEncoder
    decoder_class = ConcatTransformerDecoder

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        # The architecture sets the defaults, as for all of fairseq's options.
        add_options(
            parser,
            ("--segment-positions", KINDS,
             "how positions tell sentences apart: not at all, shifted after every separator, begun anew "
             "in every sentence with a learned segment embedding added, with a learned or sinusoidal one "
             "added, or, in the encoder alone, with a learned flag for what is context, which works with "
             "--no-separator too (default: none)"),
            ("--segment-shift N|avg-corpus|avg-sequence", segment_shift,
             "size of the shift: a number, the training corpus' mean source sentence length, "
             "or each source window's own (default: avg-corpus)"),
            ("--segment-types", RELATIVE,
             "what a segment embedding tells: which sentence of the window, from the first (sentence: "
             "the paper's rule); context or not; or which sentence, from the current one, to which the "
             "decoder's first token belongs, too (distance: its program's) (default: sentence)"),
        )  # fmt: skip

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "ConcatTransformer":
        """Build from fairseq's options and ours; ``args``, and so the checkpoint, gets the corpus average."""
        _check(args, getattr(task, "no_separator", False))
        if getattr(task, "options", {}).get("context_end") == "eos" and args.segment_positions != "none":
            raise BadInput("--context-end eos needs --segment-positions none, because </s> is no separator")
        if args.segment_positions == "shift":
            try:  # a YAML file or a checkpoint may say anything
                args.segment_shift = segment_shift(args.segment_shift)
            except argparse.ArgumentTypeError as error:
                raise BadInput(f"--segment-shift: {error}") from None
            if args.segment_shift == "avg-corpus":
                if not hasattr(type(task), "average_source_length"):
                    raise BadInput("--segment-shift avg-corpus needs --task document_window")
                args.segment_shift = task.average_source_length
        model = super().build_model(args, task)
        encoder, decoder = model.encoder, model.decoder
        embed_dim = encoder.embed_tokens.embedding_dim
        relative = RELATIVE[args.segment_types]
        encoder.embed_positions = cls._positions(
            args, encoder, embed_dim, task.source_dictionary, relative[0]
        )
        decoder.embed_positions = cls._positions(
            args, decoder, decoder.embed_dim, task.target_dictionary, relative[1]
        )
        return model

    @property
    def context_format(self) -> ContextFormat:
        knows = self.args.segment_positions == "flag" or self.args.segment_types != "sentence"
        return ContextFormat("window" if knows else "")

    @staticmethod
    def _positions(
        args: Any, side: Any, embed_dim: int, dictionary: Dictionary, relative: Any
    ) -> Optional[nn.Module]:
        stock, kind = side.embed_positions, args.segment_positions
        if kind == "flag" and isinstance(side, ConcatTransformerEncoder):
            return SegmentPositions(stock, embed_dim, side.padding_idx, kind=kind)
        if kind in ("none", "flag"):
            return None if stock is None else SegmentPositions(stock, embed_dim, side.padding_idx)
        if SEPARATOR not in dictionary:
            raise BadInput(f"--segment-positions {kind} needs {SEPARATOR} in the dictionary")
        return SegmentPositions(
            stock,
            embed_dim,
            side.padding_idx,
            separator=dictionary.index(SEPARATOR),
            kind=kind,
            shift=None if args.segment_shift == "avg-sequence" else args.segment_shift,
            opens=kind == "restart" and isinstance(side, ConcatTransformerDecoder),
            rows=2 if args.segment_types == "context" else 32,
            relative=relative,
        )


def _check(args: Any, no_separator: bool) -> None:
    kind, types = args.segment_positions, args.segment_types
    if no_separator and kind not in ("none", "flag"):
        raise BadInput(
            f"--no-separator works with --segment-positions flag or none, not {kind}, which counts separators"
        )
    if types != "sentence" and kind not in ("restart", "learned", "sinusoidal"):
        raise BadInput(
            f"--segment-types {types} needs --segment-positions restart, learned or sinusoidal, not {kind}"
        )
    if kind != "shift":
        return
    if getattr(args, "encoder_learned_pos", False) or getattr(args, "decoder_learned_pos", False):
        raise BadInput(
            "--segment-positions shift needs sinusoidal positions: drop --encoder/decoder-learned-pos"
        )
    if getattr(args, "no_token_positional_embeddings", False):
        raise BadInput("--segment-positions shift has nothing to shift with --no-token-positional-embeddings")


# The paper's model (appendix A) is _base: 60.7M parameters with a joined vocabulary of 32,347 symbols.
register_sizes(
    "concat_transformer", segment_positions="none", segment_shift="avg-corpus", segment_types="sentence"
)
