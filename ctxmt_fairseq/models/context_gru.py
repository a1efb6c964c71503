"""The RNN baseline of the thesis (Jon 2019, section 4.1): bidirectional GRU encoder, attentional GRU decoder.

The thesis refers to Edinburgh's WMT17 systems (Sennrich et al. 2017) and, for the exact parameters, to its
published Marian scripts: deep transitions, layer normalisation, one embedding matrix, dropout of inputs and
states that hides the same units at every step. It translates sentence pairs, or windows joined by the
separator.
"""

import argparse
from functools import partial
from typing import Any, Dict, List, Optional, Tuple

import torch
from fairseq.data import Dictionary
from fairseq.models import (
    FairseqEncoder,
    FairseqEncoderDecoderModel,
    FairseqIncrementalDecoder,
    register_model,
    register_model_architecture,
)
from fairseq.models.transformer import Embedding
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.models.blocks import gru
from ctxmt_fairseq.models.sizes import add_options, set_defaults

EncoderOut = Dict[str, List[Tensor]]
IncrementalState = Dict[str, Dict[str, Optional[Tensor]]]
Reading = Tuple[Tensor, Tensor, Tensor, Tensor]

DEFAULTS: Dict[str, Any] = {
    "dropout": 0.1,
    "share_all_embeddings": False,
    "share_decoder_input_output_embed": False,
    "max_source_positions": 1024,
    "max_target_positions": 1024,
    # The thesis' scripts: --dim-emb 512 --dim-rnn 1024 --enc-cell-depth 4 --dec-cell-base-depth 8
    **{"gru_embed_dim": 512, "gru_size": 1024, "gru_encoder_depth": 4, "gru_decoder_depth": 8},
}
SIZES: Dict[str, Dict[str, Any]] = {
    "": {},
    "_tiny": {"gru_embed_dim": 128, "gru_size": 128, "gru_encoder_depth": 1, "gru_decoder_depth": 2},
    "_iwslt": {"gru_embed_dim": 512, "gru_size": 512, "gru_encoder_depth": 1, "gru_decoder_depth": 2},
    # The thesis', with --tied-embeddings-all: 88M parameters with its joined vocabulary of 32,000 symbols, as
    # Marian's
    "_base": {"share_all_embeddings": True},
}


class ContextGRUEncoder(FairseqEncoder):
    """Two GRUs read the source window, one from each end; their states are h = [forward; backward] of size
    2H.

    The encoder also computes the attention's keys, once, because they depend on the source alone.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(dictionary)
        self.max_source_positions = args.max_source_positions
        self.dropout = args.dropout
        self.embed_tokens = embed_tokens
        sizes = (embed_tokens.embedding_dim, args.gru_size, args.gru_encoder_depth, args.dropout)
        self.forwards, self.backwards = gru.TransitionGRU(*sizes), gru.TransitionGRU(*sizes)
        self.key = gru.NormalisedLinear(2 * args.gru_size, 2 * args.gru_size)

    def forward(self, src_tokens: Tensor, src_lengths: Optional[Tensor] = None) -> EncoderOut:
        """Encode LongTensor (B, S), with pads on either side: ``encoder_out`` (S, B, 2H),
        ``encoder_padding_mask`` (B, S) and ``attention_keys`` (B, S, 2H)."""
        real = src_tokens.ne(self.embed_tokens.padding_idx)
        embedded = gru.sequence_dropout(self.embed_tokens(src_tokens), self.dropout, self.training)
        backwards = self.backwards.unroll(embedded.flip(1), real.flip(1)).flip(1)
        states = torch.cat([self.forwards.unroll(embedded, real), backwards], dim=2)
        states = gru.sequence_dropout(states, self.dropout, self.training)
        return {
            "encoder_out": [states.transpose(0, 1)],
            "encoder_padding_mask": [~real],
            "attention_keys": [self.key(states)],
        }

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        """Take the rows ``new_order`` of every entry."""
        return {
            name: [entry.index_select(1 if name == "encoder_out" else 0, new_order) for entry in entries]
            for name, entries in encoder_out.items()
        }

    def max_positions(self) -> int:
        return self.max_source_positions


class ContextGRUDecoder(FairseqIncrementalDecoder):
    """Conditional GRU (Sennrich et al. 2017, Nematus), which attends between two transitions of a step.

    s_0 = tanh(LN(W mean(h))). Step j reads the token y: s' = GRU(y, s_j-1), c = attention(s', h), and
    s_j = transitions(c, s'), of which the first reads c, the others nothing. The output layer is
    t = tanh(LN(W_s s_j) + LN(W_y y) + LN(W_c c)), and the logits are E t.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(dictionary)
        self.max_target_positions = args.max_target_positions
        self.dropout = args.dropout
        self.embed_tokens = embed_tokens
        embed_dim, size = embed_tokens.embedding_dim, args.gru_size
        self.start = gru.NormalisedLinear(2 * size, size)
        self.before = gru.TransitionGRU(embed_dim, size, 1, args.dropout)
        self.attention = gru.AdditiveAttention(size, 2 * size)
        self.after = gru.TransitionGRU(2 * size, size, args.gru_decoder_depth - 1, args.dropout)
        self.readout = nn.ModuleList(
            gru.NormalisedLinear(inputs, embed_dim) for inputs in (size, embed_dim, 2 * size)
        )
        self.output_projection = nn.Linear(embed_dim, len(dictionary), bias=False)
        if args.share_decoder_input_output_embed:
            self.output_projection.weight = embed_tokens.weight
        else:
            nn.init.normal_(self.output_projection.weight, std=embed_dim**-0.5)

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOut,
        incremental_state: Optional[IncrementalState] = None,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        """Return logits (B, T, V) for every token of LongTensor (B, T), or with ``incremental_state`` for the
        last one; and a dictionary whose ``attn`` has the attention weights (B, T, S).
        """
        features, extra = self.extract_features(prev_output_tokens, encoder_out, incremental_state)
        return self.output_layer(features), extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOut,
        incremental_state: Optional[IncrementalState] = None,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        """Compute what ``forward`` gives to the output layer, (B, T, embed_dim)."""
        if incremental_state is not None:
            prev_output_tokens = prev_output_tokens[:, -1:]
        *layers, weights = self._read(prev_output_tokens, encoder_out, incremental_state)
        features = sum(project(layer) for project, layer in zip(self.readout, layers, strict=True))
        return torch.tanh(features), {"attn": [weights]}

    def output_layer(self, features: Tensor) -> Tensor:
        return self.output_projection(features)

    def read_prefix(
        self, tokens: Tensor, encoder_out: EncoderOut, incremental_state: IncrementalState
    ) -> None:
        """Bring ``incremental_state`` to where decoding the prefixes (B, L), L at least 1, token by token
        would bring it; a row is its prefix and then pads, or pads alone."""
        self._read(tokens, encoder_out, incremental_state)

    def _read(
        self, tokens: Tensor, encoder_out: EncoderOut, incremental_state: Optional[IncrementalState]
    ) -> Reading:
        """Compute states (B, T, H), embeddings (B, T, E), contexts (B, T, 2H), attention weights (B, T, S).

        Pads leave the state as it is. ``incremental_state`` gets the last state.
        """
        values = encoder_out["encoder_out"][0].transpose(0, 1)
        padding, keys = encoder_out["encoder_padding_mask"][0], encoder_out["attention_keys"][0]
        embedded = gru.sequence_dropout(self.embed_tokens(tokens), self.dropout, self.training)
        real = tokens.ne(self.embed_tokens.padding_idx).unsqueeze(2)
        saved = self.get_incremental_state(incremental_state, "recurrent")
        state = self._first_state(values, padding) if saved is None else saved["state"]
        masks_before, masks_after = self.before.masks(state), self.after.masks(state)
        steps = []
        for gates, is_token in zip(self.before.input(embedded).unbind(1), real.unbind(1), strict=True):
            between = self.before(gates, state, masks_before)
            context, weights = self.attention(between, keys, values, padding)
            after = self.after(self.after.input(context), between, masks_after)
            state = torch.where(is_token, after, state)
            steps.append((state, context, weights))
        self.set_incremental_state(incremental_state, "recurrent", {"state": state})
        states, contexts, all_weights = (torch.stack(parts, dim=1) for parts in zip(*steps, strict=True))
        return states, embedded, contexts, all_weights

    def _first_state(self, values: Tensor, padding: Tensor) -> Tensor:
        real = (~padding).type_as(values)
        return torch.tanh(self.start(gru.weighted_sum(real / real.sum(dim=1, keepdim=True), values)))

    def reorder_incremental_state(self, incremental_state: IncrementalState, new_order: Tensor) -> None:
        saved = self.get_incremental_state(incremental_state, "recurrent")
        if saved is not None:
            reordered = {"state": saved["state"].index_select(0, new_order)}
            self.set_incremental_state(incremental_state, "recurrent", reordered)

    def max_positions(self) -> int:
        return self.max_target_positions


@register_model("context_gru")
class ContextGRU(FairseqEncoderDecoderModel):
    """An encoder and a decoder of GRUs; the task sets ``--max-source-positions`` and ``-target-``."""

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        # The architecture sets the defaults, as for all of fairseq's options.
        add_options(
            parser,
            ("--gru-embed-dim", int, "size of the embeddings"),
            ("--gru-size", int, "size of the states, in the encoder for each direction"),
            ("--gru-encoder-depth", int, "GRU transitions per source token"),
            ("--gru-decoder-depth", int,
             "GRU transitions per target token, at least 2: attention follows the first"),
            ("--dropout", float, "of inputs and states, the same at every step (default: 0.1)"),
            ("--share-decoder-input-output-embed", bool, "tie target and output embeddings"),
            ("--share-all-embeddings", bool,
             "one embedding matrix for source, target and output (needs a joined dictionary)"),
        )  # fmt: skip

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "ContextGRU":
        for name in ("gru_embed_dim", "gru_size", "gru_encoder_depth", "gru_decoder_depth"):
            value, least = getattr(args, name), 2 if name == "gru_decoder_depth" else 1
            if value < least:
                raise BadInput(f"{flag(name)} must be at least {least}, found {value}")
        source, target = task.source_dictionary, task.target_dictionary
        embed_source = Embedding(len(source), args.gru_embed_dim, source.pad())
        if args.share_all_embeddings:
            if source != target:
                raise BadInput("--share-all-embeddings needs a joined dictionary")
            args.share_decoder_input_output_embed = True
            embed_target = embed_source
        else:
            embed_target = Embedding(len(target), args.gru_embed_dim, target.pad())
        model = cls(
            ContextGRUEncoder(args, source, embed_source), ContextGRUDecoder(args, target, embed_target)
        )
        model.args = args
        return model


for _size, _own in SIZES.items():
    _defaults = partial(set_defaults, **{**DEFAULTS, **_own})
    register_model_architecture("context_gru", f"context_gru{_size}")(_defaults)
