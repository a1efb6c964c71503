"""Measures where a model of windows looks: the share of attention that stays in the current sentence, and the
entropy of attention (focused concatenation, Lupo et al. 2022, sections 4.5.2 and 4.6.1).

The references are the target text. Weights are reduced batch by batch as the model runs, and are not kept.
"""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import numpy as np
import torch
from fairseq.modules import MultiheadAttention
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor
from tqdm.auto import tqdm

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.analysis.captured_weights import SIDES, asked_for_weights
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, batches_by_length
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.blocks.segment_positions import segment_index
from ctxmt_fairseq.text.symbols import SEPARATOR

KINDS = ("encoder self", "decoder self", "cross")
Reduce = Callable[[str, Tensor], None]  # kind, weights (H, B, T, S) of the next layer


@dataclass(frozen=True)
class WindowAttention:
    """The means of each of N windows.

    Attributes:
        shares: by side, (N,): the part of the current sentence's self-attention that goes to the current
            sentence itself, as mean over heads, layers and tokens. NaN if this side of a window has no
            context.
        entropies: by kind, (N, L, H): the entropy -sum a ln a of the weights, as mean over all tokens.

    The authors' program computes them otherwise (``RULES``). Weights are averaged over layers and heads
    before their entropy is taken, so L and H are 1. In the decoder the first token belongs to the current
    sentence, and what it attends to, itself, is left out. Windows without context have a share, too.
    """

    shares: Dict[str, np.ndarray]
    entropies: Dict[str, np.ndarray]

    @property
    def both_shares(self) -> np.ndarray:
        """(N,) the mean of both sides; NaN if one has no context."""
        return (self.shares["encoder"] + self.shares["decoder"]) / 2

    def entropy(self, kind: str = "") -> np.ndarray:
        """(N,) the mean over layers and heads of one kind of attention; default: of all kinds."""
        chosen = [self.entropies[kind]] if kind else list(self.entropies.values())
        return np.concatenate([each.reshape(len(each), -1) for each in chosen], axis=1).mean(1)


def window_attention(
    loaded: LoadedModels, text: ProbedText, max_tokens: int = MAX_TOKENS, rule: str = "paper"
) -> WindowAttention:
    """Measure the attention of one model of windows, a transformer, over a text by one of ``RULES``."""
    model = loaded.model
    dataset = text.scorer(max_tokens).dataset(loaded)
    attentions = _attentions(model)
    windows = isinstance(dataset, DocumentWindowDataset) and not dataset.builder.ends_with_eos
    if not windows or not attentions:
        wanted = "concat_transformer or transformer, trained with --task document_window"
        raise BadInput(f"expected {wanted}, found {architecture(model)}")
    lines: List[int] = []
    found: List[Dict[str, np.ndarray]] = []
    with tqdm(total=len(dataset), unit="window", disable=None) as progress:
        for places in batches_by_length(dataset.sizes.max(1), max_tokens):
            batch = dataset.collater([dataset[place] for place in places])
            reducer = RULES[rule](loaded, batch)
            with torch.no_grad(), _watched(attentions, reducer):
                model(**reducer.net_input)
            lines += batch["id"].tolist()
            found.append(reducer.reduced())
            progress.update(len(places))
    order = np.argsort(lines)
    values = {name: np.concatenate([each[name] for each in found])[order] for name in (*SIDES, *KINDS)}
    return WindowAttention({side: values[side] for side in SIDES}, {kind: values[kind] for kind in KINDS})


def _attentions(model: Any) -> List[Tuple[str, MultiheadAttention]]:
    """The kind and module of every attention, from the first layer; none if the model is no plain
    transformer."""
    encoder, decoder = (list(getattr(side, "layers", ())) for side in (model.encoder, model.decoder))
    plain = all(isinstance(layer, TransformerEncoderLayerBase) for layer in encoder)
    if not plain or not all(isinstance(layer, TransformerDecoderLayerBase) for layer in decoder):
        return []
    found = [("encoder self", layer.self_attn) for layer in encoder]
    for layer in decoder:
        found += [("decoder self", layer.self_attn), ("cross", layer.encoder_attn)]
    return found


class _Reducer:
    """Reduces the weights of one batch of B windows.

    A query or key in the decoder belongs to the sentence of the token that is read there, as for
    segment-shifted positions. The first one, which reads ``</s>``, belongs to the first sentence of the
    window.
    """

    def __init__(self, loaded: LoadedModels, batch: Dict[str, Any]):
        self.net_input, windows = to_device((batch["net_input"], batch["windows"]), loaded.device)
        source, target = self.net_input["src_tokens"], self.net_input["prev_output_tokens"]
        dictionary = loaded.task.target_dictionary
        pad, separator = dictionary.pad(), dictionary.index(SEPARATOR)
        self.real = {"encoder": source.ne(pad), "decoder": target.ne(pad)}  # (B, S), (B, T)
        order = self.real["encoder"].long().cumsum(1) - 1
        first, end = windows["current_span"].T
        before = windows["target_context_sizes"]
        self.current = {
            "encoder": self.real["encoder"] & (order >= first[:, None]) & (order < end[:, None]),
            "decoder": self.real["decoder"] & (segment_index(target, separator) >= before[:, None]),
        }
        encoder, decoder = self.real.values()
        self.asking = {"encoder self": encoder, "decoder self": decoder, "cross": decoder}  # the queries
        self._entropies: Dict[str, List[Tensor]] = {kind: [] for kind in KINDS}  # (B, H) of each layer
        self._shares: Dict[str, List[Tensor]] = {side: [] for side in SIDES}  # (B,) of each layer

    def __call__(self, kind: str, weights: Tensor) -> None:
        weights = weights.double()
        asking = self.asking[kind]
        entropy = torch.special.entr(weights).sum(-1)  # (H, B, T)
        self._entropies[kind].append(_mean(entropy, asking).T)
        if kind != "cross":
            side = kind.split()[0]
            within = (weights * self.current[side][None, :, None]).sum(-1)
            self._shares[side].append(_mean(within, self.current[side] & asking).mean(0))

    def reduced(self) -> Dict[str, np.ndarray]:
        """The shares (B,) by side, and the entropies (B, L, H) by kind."""
        found = {side: self.share(side) for side in SIDES}
        found |= {kind: torch.stack(layers, 1) for kind, layers in self._entropies.items()}
        return {name: values.cpu().numpy() for name, values in found.items()}

    def share(self, side: str) -> Tensor:
        """(B,) the mean over layers and heads; NaN for windows without context on this side."""
        context = (self.real[side] & ~self.current[side]).any(1)
        return torch.stack(self._shares[side]).mean(0).masked_fill(~context, float("nan"))


class _ProgramReducer(_Reducer):
    """Reduces as the authors' program does."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        decoder = self.real["decoder"]
        first = decoder & decoder.long().cumsum(1).eq(1)
        self.current["decoder"] |= first
        self.asking["decoder self"] = decoder & ~first
        self._weights: Dict[str, List[Tensor]] = {kind: [] for kind in KINDS}  # (B, T, S) of each layer

    def __call__(self, kind: str, weights: Tensor) -> None:
        self._weights[kind].append(weights.double().mean(0))

    def reduced(self) -> Dict[str, np.ndarray]:
        for kind, layers in self._weights.items():
            super().__call__(kind, torch.stack(layers).mean(0)[None])
        return super().reduced()

    def share(self, side: str) -> Tensor:
        return torch.stack(self._shares[side]).mean(0)


RULES = {"paper": _Reducer, "program": _ProgramReducer}


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    """The means (H, B) of values (H, B, T) over the tokens that are ``chosen`` (B, T)."""
    return values.masked_fill(~chosen, 0.0).sum(-1) / chosen.sum(1).clamp(min=1)


@contextlib.contextmanager
def _watched(attentions: Sequence[Tuple[str, MultiheadAttention]], reduce: Reduce) -> Iterator[None]:
    """Hand the weights of all heads to ``reduce`` at each call of these attentions."""

    def hand(kind: str, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        reduce(kind, output[1])

    hooks = [(module, partial(hand, kind)) for kind, module in attentions]
    with contextlib.ExitStack() as end:
        for _, module in attentions:
            end.callback(setattr, module, "skip_embed_dim_check", module.skip_embed_dim_check)
            module.skip_embed_dim_check = True  # fairseq's own attention; torch's returns the heads' mean
        end.enter_context(asked_for_weights(hooks, need_head_weights=True))
        yield
