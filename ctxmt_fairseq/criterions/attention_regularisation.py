"""Pulls attention towards the context that people found useful, beside any criterion: the attention
regularisation of "Do Context-Aware Translation Models Pay the Right Attention?" (Yin et al. 2021)."""

import contextlib
import math
from functools import partial
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Tuple

import torch
from fairseq.criterions import FairseqCriterion
from fairseq.logging import metrics
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import logged_sum

_HIDDEN = -1e9  # the score of a hidden key; unlike that of minus infinity, its gradient is a number


@contextlib.contextmanager
def first_inputs(attentions: Mapping[str, MultiheadAttention]) -> Iterator[Dict[str, Dict[str, Any]]]:
    """Collect the arguments with which each attention is first called in the block, by its name."""
    found: Dict[str, Dict[str, Any]] = {}

    def keep(name: str, module: Any, args: Any, kwargs: Dict[str, Any]) -> None:
        found.setdefault(name, kwargs)

    with contextlib.ExitStack() as hooks:
        for name, module in attentions.items():
            hook = module.register_forward_pre_hook(partial(keep, name), with_kwargs=True)
            hooks.callback(hook.remove)
        yield found


def log_attention(
    attention: MultiheadAttention, inputs: Mapping[str, Any], rows: Tensor, queries: Tensor
) -> Tensor:
    """Compute the logarithms of the heads' mean weights from some queries to all keys, before attention
    dropout: (n, S) float32, with a very negative number where a key is hidden.

    They are computed for these queries (rows and places (n,)) alone, apart from the attention, which uses the
    fused kernel. ``inputs`` are its arguments: ``query`` (T, B, C), ``key`` (S, B, C), ``key_padding_mask``
    (B, S) or None, ``attn_mask`` (T, S) or None.
    """
    query, key = inputs["query"][queries, rows], inputs["key"][:, rows]
    heads, width = attention.num_heads, attention.head_dim
    q = attention.q_proj(query).unflatten(-1, (heads, width)) * attention.scaling
    k = attention.k_proj(key).unflatten(-1, (heads, width))
    scores = torch.einsum("nhc,snhc->nhs", q, k).float()
    padding, mask = inputs.get("key_padding_mask"), inputs.get("attn_mask")
    if padding is not None:
        scores = scores.masked_fill(padding[rows].bool().unsqueeze(1), _HIDDEN)
    if mask is not None:
        chosen = mask[queries].unsqueeze(1)
        scores = scores.masked_fill(chosen if chosen.dtype == torch.bool else chosen < 0, _HIDDEN)
    return scores.log_softmax(-1).logsumexp(1) - math.log(heads)


def divergence(logs: Tensor, keys: Tensor) -> Tuple[Tensor, Tensor]:
    """Compute KL(uniform over ``keys`` || attention), in nats, and the share of attention that goes to them,
    both (n,), from its logarithms (n, S) and a mask (n, S) with at least one key in each row."""
    many = keys.sum(-1)
    cross_entropy = -logs.masked_fill(~keys, 0.0).sum(-1) / many
    return cross_entropy - many.log(), (logs.exp() * keys).sum(-1)


# For each name of an attention: its side, the class of the layers, and the layer's attribute.
ATTENTIONS = {
    "encoder": ("encoder", TransformerEncoderLayerBase, "self_attn"),
    "cross": ("decoder", TransformerDecoderLayerBase, "encoder_attn"),
    "decoder": ("decoder", TransformerDecoderLayerBase, "self_attn"),
}
# The layers of the authors' training command (README of neulab/contextual-mt), whose weight is 10.
PAPERS_LAYERS = "encoder:1,cross:1,decoder:last"
_LAST = "last"


def parse_layers(text: str) -> Dict[str, str]:
    """Turn ``encoder:1,decoder:last`` into a dictionary, attention to layer."""
    layers: Dict[str, str] = {}
    for part in text.split(","):
        name, _, layer = (each.strip() for each in part.partition(":"))
        fits = layer == _LAST or (layer.isascii() and layer.isdigit() and len(layer) < 4 and int(layer) > 0)
        if name not in ATTENTIONS or name in layers or not fits:
            raise BadInput(f"--attention-layers {text}: expected attentions and layers as in {PAPERS_LAYERS}")
        layers[name] = layer
    return layers


def chosen_attentions(model: Any, layers: Mapping[str, str]) -> Dict[str, MultiheadAttention]:
    """Find these attentions of a model, by name."""
    found = {}
    for name, layer in layers.items():
        side, kind, attribute = ATTENTIONS[name]
        own = getattr(getattr(model, side), "layers", ())
        # Iterating would let --encoder-layerdrop leave some out.
        stack = [own[number] for number in range(len(own))]
        if not stack or not all(isinstance(each, kind) for each in stack):
            raise BadInput("--attention-weight needs concat_transformer or fairseq's transformer")
        number = len(stack) if layer == _LAST else int(layer)
        if number > len(stack):
            raise BadInput(f"--attention-layers {name}:{layer}: the {side} has {len(stack)} layers")
        found[name] = getattr(stack[number - 1], attribute)
    return found


class Distance(NamedTuple):
    """Sums over the highlighted words of a batch, for one attention: of KL(uniform over the word's support ||
    the heads' mean attention), in nats, and of the share of attention that goes to the support; and how many
    words those are."""

    divergence: Tensor
    share: Tensor
    words: int


def distance(attention: MultiheadAttention, inputs: Mapping[str, Any], marked: Mapping[str, Any]) -> Distance:
    """Measure how far an attention (its ``inputs``: see ``log_attention``) is from the highlights, as
    ``highlight_batch`` gives them; a word's value is the mean over its subwords."""
    logs = log_attention(attention, inputs, marked["rows"], marked["queries"])
    values, shares = divergence(logs, marked["keys"])
    share = shares.detach() / marked["subwords"]
    return Distance((values / marked["subwords"]).sum(), share.sum(), marked["words"])


class AttentionRegularisation(FairseqCriterion):
    """A criterion that adds, in training, the attention's distance from the highlights to the loss::

        loss / sample_size + attention_weight * sum over attentions of the mean over words of KL

    with KL(uniform over the word's supporting subwords || the heads' mean attention of the layer). Means are
    over the highlighted words of a batch. ``regularised`` adds this class to a criterion.

    The authors' code pulls one head (their command: the first) or the mean of all; we take the mean. They
    divide by a second softmax over the weights and add up the words; we take the weights as they are, before
    attention dropout.

    It logs ``loss`` with what is added; ``attention_loss``, the sum over attentions, unweighted, in bits; and
    ``attention_share``, the mean share of attention that goes to the support. Batches without highlights
    cost nothing. If a criterion runs the model several times, the first time counts.
    """

    attention_weight: float
    attention_layers: Dict[str, str]

    def forward(
        self, model: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Any, Dict[str, Any]]:
        """As fairseq's ``forward``: returns the summed loss, the sample size, and what is logged."""
        if not (model.training and reduce):
            return super().forward(model, sample, reduce)
        marked = sample.get("highlights", {})
        attentions = chosen_attentions(model, self.attention_layers)
        with first_inputs({name: attentions[name] for name in attentions if name in marked}) as inputs:
            loss, sample_size, logged = super().forward(model, sample, reduce)
        nothing = Distance(torch.zeros_like(loss), torch.zeros_like(loss), 0)
        total = nothing.divergence
        for name, attention in attentions.items():
            # A layer that --encoder-layerdrop leaves out has no inputs.
            found = distance(attention, inputs[name], marked[name]) if name in inputs else nothing
            if found.words:
                total = total + found.divergence / found.words
            # Every worker must log the same names, whatever is in its batch.
            logged[f"attention_{name}_loss"] = found.divergence.detach()
            logged[f"attention_{name}_share"] = found.share
            logged[f"attention_{name}_words"] = found.words
        added = self.attention_weight * sample_size * total
        logged["loss"] = logged["loss"] + added.detach()
        return loss + added, sample_size, logged

    @classmethod
    def reduce_metrics(cls, logging_outputs: List[Dict[str, Any]]) -> None:
        """Add up the sums of all workers and sub-batches, and take means of the results."""
        super().reduce_metrics(logging_outputs)

        def total(name: str) -> float:
            return float(logged_sum(logging_outputs, name))

        words = {name: total(f"attention_{name}_words") for name in ATTENTIONS}
        words = {name: count for name, count in words.items() if count}
        if words:
            means = {
                kind: [total(f"attention_{name}_{kind}") / count for name, count in words.items()]
                for kind in ("loss", "share")
            }
            weight = sum(words.values())
            metrics.log_scalar("attention_loss", sum(means["loss"]) / math.log(2), weight, round=3)
            metrics.log_scalar("attention_share", sum(means["share"]) / len(words), weight, round=3)


def regularised(criterion: Any, weight: float, layers: Mapping[str, str]) -> Any:
    """Have a criterion pull attention towards highlights as well; with weight 0 it stays what it is.

    The criterion keeps its class's name, by which fairseq knows a checkpoint's criterion, so a training may
    go on with highlights or without.
    """
    if weight > 0:
        base = type(criterion)
        criterion.__class__ = type(base.__name__, (AttentionRegularisation, base), {})
        criterion.attention_weight, criterion.attention_layers = weight, dict(layers)
    return criterion
