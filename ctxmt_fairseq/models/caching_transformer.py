"""Caching and sequence shortening: earlier sentences' encoder states, shortened, are the context."""

import argparse
from typing import Any, Optional, Sequence, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from fairseq.data import Dictionary
from fairseq.models import register_model
from torch import Tensor, nn

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.data.length_groups import Group
from ctxmt_fairseq.data.multi_source_dataset import CONTEXT_ENTRIES
from ctxmt_fairseq.data.transfer import to_device
from ctxmt_fairseq.models.context_model import ContextEncoder, MultiSourceModel
from ctxmt_fairseq.models.fusion import ContextDecoder, add_fusion_args, check_fusion
from ctxmt_fairseq.models.sizes import SEPARATE_VOCABULARIES, register_sizes
from ctxmt_fairseq.modules.context_attention import ContextStates
from ctxmt_fairseq.modules.context_embeddings import ContextEmbeddings
from ctxmt_fairseq.modules.context_rows import context_rows
from ctxmt_fairseq.modules.encoder_out import EncoderOut
from ctxmt_fairseq.modules.fusions import FUSIONS
from ctxmt_fairseq.modules.row_groups import encode_sentences
from ctxmt_fairseq.modules.sentence_cache import SentenceCache
from ctxmt_fairseq.modules.shortening import ACTIVATIONS, SHORTENINGS, build_shortening


class CachingEncoder(ContextEncoder):
    """One encoder for all sentences; what the decoder sees of the context are shortened states.

    Attributes:
        sentence_cache: set while documents are translated; then a sentence whose states it holds is not
            encoded again.
    """

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        embed_dim = embed_tokens.embedding_dim
        self.eos = dictionary.eos()
        self.current_in_context = args.current_in_context == "yes"
        self.gradient_into_encoder = args.context_gradient_encoder == "yes"
        self.gradient_sentences = args.context_gradient_sentences
        self.context_shortening = build_shortening(
            args.shortening,
            embed_dim,
            args.encoder_attention_heads,
            size=args.shortening_size,
            activation=args.shortening_activation,
            dropout=args.dropout,
            attention_dropout=args.attention_dropout,
        )
        places = self.context_shortening.places(self.max_source_positions)
        self.context_embeddings = ContextEmbeddings(embed_dim, places)
        self.sentence_cache: Optional[SentenceCache] = None

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        return_all_hiddens: bool = False,
        token_embeddings: Optional[Tensor] = None,
        **inputs: Any,
    ) -> EncoderOut:
        """The template's steps in another order: context is made of the current sentences' states too."""
        sizes = inputs.get("context_sizes")
        source = src_tokens, src_lengths, return_all_hiddens, token_embeddings
        encoder_out = self.encode_rows(None, sizes, *source)
        if not inputs:
            return encoder_out
        current = encoder_out["encoder_out"][0].transpose(0, 1), encoder_out["encoder_padding_mask"][0]
        context = self.encode_context(current, **inputs)
        return self.with_groups(self.for_decoder(encoder_out, context), sizes, src_tokens)

    def encode_context(
        self,
        current: Tuple[Tensor, Tensor],
        context_tokens: Tensor,
        context_distances: Tensor,
        context_roles: Tensor,
        context_index: Optional[Tensor] = None,
        context_sizes: Optional[ContextSizes] = None,
        context_current: Optional[Tensor] = None,
        context_new: Optional[Tensor] = None,
    ) -> ContextStates:
        """The shortened states; the context is that of ``MultiSourceDataset.context_batch``.

        Args:
            current: states (B, S, D) and padding (B, S) of the current sentences.
        """
        tokens, index = context_rows(context_tokens, context_index, self.padding_idx, self.eos)
        if self.sentence_cache is None or context_sizes is None or context_sizes.keys is None:
            groups = () if context_sizes is None else context_sizes.context_groups
            encoded = self._encode(tokens, context_current, context_new, *current, groups)
            states, padding = self.context_shortening(*encoded)
        else:
            states, padding = self._cached(tokens, context_sizes, current, self.sentence_cache)
        chosen = index.clamp(min=0)
        states = states[chosen]  # (B, C, K, D)
        padding = padding[chosen] | index.lt(0).unsqueeze(-1)
        if self.gradient_sentences >= 0:
            near = context_distances.le(self.gradient_sentences)[:, :, None, None]
            states = torch.where(near, states, states.detach())
        states = self.context_embeddings(states, context_distances, context_roles)
        context = ContextStates(states.flatten(1, 2), padding.flatten(1, 2))
        if self.current_in_context:
            context = self._with_current(context, *current)
        return context.compact(None if context_sizes is None else self.context_width(context_sizes))

    def context_width(self, sizes: ContextSizes) -> Optional[int]:
        if self.context_shortening.vectors(sizes.source) is None:
            return None
        return sizes.widest(self.context_shortening.vectors, self.current_in_context)

    def _encode(
        self,
        tokens: Tensor,
        same: Optional[Tensor],
        new: Optional[Tensor],
        current: Tensor,
        current_padding: Tensor,
        groups: Sequence[Group] = (),
    ) -> Tuple[Tensor, Tensor]:
        """States (R, L, D) of context sentences and their padding, sharing those of current sentences.

        Args:
            tokens: (R, L).
            same: (R,) row of the batch with this current sentence, or -1; None if that is not known.
            new: (N,) rows of ``tokens`` that are encoded, all if None; with ``same`` those that have -1.
            current, current_padding: states (B, S, D) and padding (B, S) of the current sentences.
            groups: in which the rows are encoded; none: all at once.
        """
        if new is not None:
            tokens = tokens.index_select(0, new)
        if not self.gradient_into_encoder:
            current = current.detach()
        if not len(tokens):
            return current[same], current_padding[same]
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.gradient_into_encoder):
            out = encode_sentences(self.forward_scriptable, tokens, groups)
        states, padding = out["encoder_out"][0].transpose(0, 1), out["encoder_padding_mask"][0]
        if same is None:
            return states, padding
        width = max(states.size(1), current.size(1))
        both = torch.cat([_widen(current, width), _widen(states, width)])
        both_padding = torch.cat([_widen(current_padding, width, True), _widen(padding, width, True)])
        places = torch.where(same.lt(0), same.lt(0).cumsum(0) - 1 + len(current), same)
        return both[places], both_padding[places]

    def _with_current(self, context: ContextStates, current: Tensor, padding: Tensor) -> ContextStates:
        """The current sentence's own shortened states are the last of the context (section 4.3)."""
        states, padding = self.context_shortening(current, padding)
        here = torch.zeros_like(padding[:, :1], dtype=torch.long)
        own = self.context_embeddings(states.unsqueeze(1), here, here).squeeze(1)
        return ContextStates(
            torch.cat([context.states, own], dim=1), torch.cat([context.padding, padding], dim=1)
        )

    def _cached(
        self, tokens: Tensor, sizes: ContextSizes, current: Tuple[Tensor, Tensor], cache: SentenceCache
    ) -> Tuple[Tensor, Tensor]:
        """Shortened states of the context sentences; those of this batch are kept for the next."""
        keys, current_keys = sizes.keys or (), sizes.current_keys or ()
        self._keep(cache, current_keys, sizes.source, *self.context_shortening(*current))
        missing = cache.missing(keys)
        if missing:
            new = to_device(torch.tensor(missing), tokens.device)
            encoded = self.context_shortening(*self._encode(tokens, None, new, *current))
            self._keep(cache, [keys[place] for place in missing], sizes.sentences[missing], *encoded)
        return cache.gather(keys)

    def _keep(
        self, cache: SentenceCache, keys: Sequence[int], tokens: np.ndarray, states: Tensor, padding: Tensor
    ) -> None:
        """Shortened states (R, K, D) of sentences of so many tokens."""
        vectors = self.context_shortening.vectors(tokens)
        cache.store(keys, states, ((~padding).sum(1) if vectors is None else vectors).tolist())


def _widen(rows: Tensor, width: int, value: bool = False) -> Tensor:
    """(R, L, ...) -> (R, width, ...), filled with ``value``."""
    sides = (0, 0) * (rows.dim() - 2)
    return F.pad(rows, (*sides, 0, width - rows.size(1)), value=value)


@register_model("caching_transformer")
class CachingTransformer(MultiSourceModel):
    """Sequence shortening for context-aware translation, section 4.3; the paper's defaults for each
    shortening."""

    encoder_class = CachingEncoder
    decoder_class = ContextDecoder
    context_format = ContextFormat(CONTEXT_ENTRIES)

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_fusion_args(
            parser,
            "serial; sentence: separate",
            "none; sentence: branch, where the context has its attention",
        )
        kinds = "; ".join(f"{name}: {kind.description}" for name, kind in SHORTENINGS.items())
        parser.add_argument(
            "--shortening",
            choices=tuple(SHORTENINGS),
            help=f"what is kept of a context sentence: {kinds} (default: none)",
        )
        parser.add_argument(
            "--shortening-size",
            type=int,
            metavar="K",
            help="neighbours that are pooled (default: 2), groups (default: 9; select: 10)",
        )
        parser.add_argument(
            "--shortening-activation",
            choices=tuple(ACTIVATIONS),
            help="how tokens are assigned to groups (default: sparsemax)",
        )
        parser.add_argument(
            "--current-in-context",
            choices=("yes", "no"),
            help="whether the current sentence's own states are context too (default: yes, if shortened)",
        )
        parser.add_argument(
            "--context-gradient-encoder",
            choices=("yes", "no"),
            help="whether the gradient of context sentences enters the encoder (default: group and select)",
        )
        parser.add_argument(
            "--context-gradient-sentences",
            type=int,
            metavar="N",
            help="from how many context sentences on either side the gradient enters the shortening; -1: "
            "all (default; group: 2, select: 1)",
        )

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "CachingTransformer":
        check_fusion(args)
        return super().build_model(args, task)


def caching_defaults(args: Any) -> None:
    """Those of the shortening; a gate only where the fusion has it."""
    args.shortening = getattr(args, "shortening", "none")
    defaults = dict(SHORTENINGS[args.shortening].defaults)
    fusion = FUSIONS[getattr(args, "context_fusion", defaults["context_fusion"])]
    if defaults["context_gate"] not in fusion.gates:
        defaults["context_gate"] = "none"
    for name, value in defaults.items():
        setattr(args, name, getattr(args, name, value))


# The paper's vocabularies have 20,000 symbols each.
register_sizes("caching_transformer", caching_defaults, base=SEPARATE_VOCABULARIES)
