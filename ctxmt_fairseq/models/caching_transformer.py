"""Caching and sequence shortening: the context is the shortened encoder states of other sentences."""

import argparse
from typing import Any, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from fairseq.data import Dictionary
from fairseq.models import register_model
from torch import Tensor, nn

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.context_embeddings import ContextEmbeddings
from ctxmt_fairseq.models.blocks.context_rows import placed
from ctxmt_fairseq.models.blocks.encoder_out import batch_first
from ctxmt_fairseq.models.blocks.fusions import FUSIONS
from ctxmt_fairseq.models.blocks.latent_groups import ACTIVATIONS
from ctxmt_fairseq.models.blocks.sentence_cache import SentenceCache
from ctxmt_fairseq.models.blocks.shortening import SHORTENINGS, build_shortening
from ctxmt_fairseq.models.context_decoder import ContextDecoder, add_fusion_args
from ctxmt_fairseq.models.context_model import MultiSourceModel
from ctxmt_fairseq.models.rows_encoder import RowsEncoder
from ctxmt_fairseq.models.sizes import SEPARATE_VOCABULARIES, add_options, register_sizes, set_defaults


class CachingEncoder(RowsEncoder):
    """Encodes all sentences, and gives the decoder shortened states of the context. While documents are
    translated, a sentence whose states are in ``sentence_cache`` is not encoded again."""

    context_of_source = True

    def __init__(self, args: Any, dictionary: Dictionary, embed_tokens: nn.Embedding):
        super().__init__(args, dictionary, embed_tokens)
        embed_dim = embed_tokens.embedding_dim
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
            filled=getattr(args, "shortening_partial", "real") == "zeros",  # older checkpoints lack it
        )
        places = self.context_shortening.places(self.max_source_positions)
        self.context_embeddings = ContextEmbeddings(embed_dim, places)
        self.sentence_cache: Optional[SentenceCache] = None

    def encode_context(self, context: Mapping[str, Any]) -> ContextStates:
        """Return the shortened states, with their distances and roles."""
        current = batch_first(context["encoder_out"])
        sizes, shortening = context["sizes"], self.context_shortening
        if self.sentence_cache is None or sizes.keys is None:
            states, padding = shortening(*self._sentences(context, *current))
        else:
            states, padding = self._cached(context, current, self.sentence_cache)
        states, padding = placed(states, padding, context["index"])
        if self.gradient_sentences >= 0:
            near = context["distances"].le(self.gradient_sentences)[:, :, None, None]
            states = torch.where(near, states, states.detach())
        states = self.context_embeddings(states, context["distances"], context["roles"])
        found = ContextStates(states.flatten(1, 2), padding.flatten(1, 2), sizes.counts(shortening.vectors))
        if self.current_in_context:
            found = self._with_current(found, sizes, *current)
        return found.compact()

    def _sentences(
        self, context: Mapping[str, Any], current: Tensor, current_padding: Tensor
    ) -> Tuple[Tensor, Tensor]:
        """The states (R, L, D) of the context's sentences and their padding; reused sentences come first."""
        if not self.gradient_into_encoder:
            current = current.detach()
        parts = []
        if "reused" in context:
            parts.append((current[context["reused"]], current_padding[context["reused"]]))
        if len(context["tokens"]):
            with torch.set_grad_enabled(torch.is_grad_enabled() and self.gradient_into_encoder):
                parts.append(self.encode_sentences(context))
        if len(parts) == 1:
            return parts[0]
        width = max(states.size(1) for states, _ in parts)
        widened = [(_widen(states, width), _widen(padding, width, True)) for states, padding in parts]
        states, padding = zip(*widened, strict=True)
        return torch.cat(states), torch.cat(padding)

    def _with_current(
        self, context: ContextStates, sizes: ContextSizes, current: Tensor, padding: Tensor
    ) -> ContextStates:
        """Append the current sentence's own shortened states to the context (section 4.3)."""
        states, padding = self.context_shortening(current, padding)
        here = torch.zeros_like(padding[:, :1], dtype=torch.long)
        own = self.context_embeddings(states.unsqueeze(1), here, here).squeeze(1)
        counts = context.counts
        if counts is not None:
            counts = counts + self.context_shortening.vectors(sizes.source)
        return ContextStates(
            torch.cat([context.states, own], dim=1), torch.cat([context.padding, padding], dim=1), counts
        )

    def _cached(
        self, context: Mapping[str, Any], current: Tuple[Tensor, Tensor], cache: SentenceCache
    ) -> Tuple[Tensor, Tensor]:
        """Take the shortened states of context sentences from the cache, and keep those of this batch."""
        sizes, tokens = context["sizes"], context["tokens"]
        self._keep(cache, sizes.current_keys, sizes.source, *self.context_shortening(*current))
        missing = cache.missing(sizes.keys)
        if missing:
            reused = len(sizes.keys) - len(tokens)
            new = to_device(torch.tensor(missing) - reused, tokens.device)
            encoded = self._sentences({"tokens": tokens.index_select(0, new), "sizes": sizes}, *current)
            keys = [sizes.keys[place] for place in missing]
            self._keep(cache, keys, sizes.sentences[missing], *self.context_shortening(*encoded))
        return cache.gather(sizes.keys)

    def _keep(
        self, cache: SentenceCache, keys: Sequence[int], tokens: np.ndarray, states: Tensor, padding: Tensor
    ) -> None:
        """Keep the shortened states (R, K, D) of sentences that have so many tokens."""
        vectors = self.context_shortening.vectors(tokens)
        cache.store(keys, states, ((~padding).sum(1) if vectors is None else vectors).tolist())


def _widen(rows: Tensor, width: int, value: bool = False) -> Tensor:
    """Fill up rows with ``value``: (R, L, ...) -> (R, width, ...)."""
    sides = (0, 0) * (rows.dim() - 2)
    return F.pad(rows, (*sides, 0, width - rows.size(1)), value=value)


@register_model("caching_transformer")
class CachingTransformer(MultiSourceModel):
    """Sequence shortening for context-aware translation, section 4.3, with the paper's defaults for each."""

    encoder_class = CachingEncoder
    decoder_class = ContextDecoder
    context_format = ContextFormat("rows", reuse=True)

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        super().add_args(parser)
        add_fusion_args(
            parser,
            "serial; sentence: separate",
            "none; sentence: branch, where the context has its attention",
        )
        kinds = "; ".join(f"{name}: {kind.description}" for name, kind in SHORTENINGS.items())
        add_options(
            parser,
            ("--shortening", SHORTENINGS, f"what is kept of a context sentence: {kinds} (default: none)"),
            ("--shortening-size K", int,
             "neighbours that are pooled (default: 2), groups (default: 9; select: 10)"),
            ("--shortening-activation", ACTIVATIONS,
             "how tokens are assigned to groups (default: sparsemax)"),
            ("--shortening-partial", ("real", "zeros"),
             "what is pooled of a last group of fewer than K tokens: these (real: the paper's), or with "
             "zeros for the others (zeros: its program's mean and max) (default: real)"),
            ("--current-in-context", ("yes", "no"),
             "whether the current sentence's own states are context too (default: yes, if shortened)"),
            ("--context-gradient-encoder", ("yes", "no"),
             "whether the gradient of context sentences enters the encoder (default: group and select)"),
            ("--context-gradient-sentences", int,
             "from how many context sentences on either side the gradient enters the shortening; -1: "
             "all (default; group: 2, select: 1)"),
        )  # fmt: skip


def caching_defaults(args: Any) -> None:
    """Set the defaults of the shortening; the gate is "none" if the fusion has no such gate."""
    set_defaults(args, shortening="none", shortening_partial="real")
    defaults = dict(SHORTENINGS[args.shortening].defaults)
    fusion = FUSIONS[getattr(args, "context_fusion", defaults["context_fusion"])]
    if defaults["context_gate"] not in fusion.gates:
        defaults["context_gate"] = "none"
    set_defaults(args, **defaults)


# The paper's vocabularies have 20,000 symbols each.
register_sizes("caching_transformer", caching_defaults, base=SEPARATE_VOCABULARIES)
