"""Context-discounted cross-entropy: focused concatenation (Lupo et al. 2022), section 3.1, equation 2."""

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

import torch
from fairseq import utils
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.dataclass import ChoiceEnum
from fairseq.logging import metrics
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import explained
from ctxmt_fairseq.text.symbols import SEPARATOR


def sentence_ends(target: Tensor, separator: int, eos: int) -> Tensor:
    """Mark what ends a context sentence in ``target`` (B, T): BoolTensor (B, T). With ``--context-end eos``
    this also is a ``</s>`` with another one behind it."""
    ends = target.eq(eos)
    return target.eq(separator) | (ends & ends.flip(1).cumsum(1).flip(1).gt(1))


def context_mask(target: Tensor, separator: int, eos: int = -1) -> Tensor:
    """Mark each row of ``target`` (B, T) up to its last separator, this included: BoolTensor (B, T). The
    context may end with ``eos``, too, if it is given."""
    places = torch.arange(1, target.size(1) + 1, device=target.device)
    last = (sentence_ends(target, separator, eos) * places).amax(1, keepdim=True)  # 0: it is one sentence
    return places <= last


def target_weights(target: Tensor, separator: int, pad: int, discount: float, eos: int = -1) -> Tensor:
    """The weight of every target token (equation 2), float (B, T).

    It is ``discount`` for the context sentences and all separators, 1 for the current sentence and ``</s>``,
    and 0 for pads. A window of one sentence has weight 1 everywhere.
    """
    weights = torch.where(context_mask(target, separator, eos), discount, 1.0)
    return weights.masked_fill(target.eq(pad), 0.0)


def token_losses(lprobs: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
    """The negative log-probability of each target token (N,), and the sum of the whole vocabulary's, for
    smoothing: of ``lprobs`` (N, V) two tensors (N, 1), in which pads count, too."""
    return -lprobs.gather(-1, target.unsqueeze(-1)), -lprobs.sum(-1, keepdim=True)


def logged_sum(logging_outputs: List[Dict[str, Any]], name: str) -> Any:
    """The sum of a number over all workers and sub-batches."""
    return utils.item(sum(log.get(name, 0) for log in logging_outputs))


def log_mean(logging_outputs: List[Dict[str, Any]], name: str, value: str, count: str) -> None:
    """Log as ``name`` the mean in bits, which is the sum of ``value`` over the sum of ``count``."""
    total = logged_sum(logging_outputs, count)
    if total > 0:
        mean = logged_sum(logging_outputs, value) / total / math.log(2)
        metrics.log_scalar(name, mean, total, round=3)


_BESIDE_CONTEXT = "_beside_context_loss"  # fairseq logs no name that begins with _


def _current_context_ratio(meters: Dict[str, Any]) -> float:
    current, context = meters[_BESIDE_CONTEXT], meters["context_sentence_loss"]
    if not context.count:  # no context sentence has come since fairseq has reset the meters
        return math.nan
    return round(current.avg / context.avg, 3)


@dataclass
class ContextDiscountedCriterionConfig(LabelSmoothedCrossEntropyCriterionConfig):
    context_discount: float = explained(
        0.01, "weight of the context sentences' loss, 0 to 1 (1: no discount; default: the paper's)"
    )
    discount_normalisation: ChoiceEnum(["tokens", "weights"]) = explained(  # type: ignore[valid-type]
        "tokens", "divide the loss by the number of target tokens, or by the sum of their weights"
    )


@register_criterion(
    "context_discounted_label_smoothed_cross_entropy", dataclass=ContextDiscountedCriterionConfig
)
class ContextDiscountedCriterion(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label-smoothed cross-entropy with ``target_weights``; with discount 1 it is exactly
    fairseq's.

    fairseq logs the weighted loss as ``loss``; its ``nll_loss`` and ``ppl`` count every token fully. This
    criterion also logs, in bits and without weights: ``current_loss``, the current sentence's loss per
    token; for the paper's Figure 3 ``current_sentence_loss`` and ``context_sentence_loss``, the loss per
    current and per context sentence (a separator belongs to the sentence before it); and
    ``current_context_ratio``, the first divided by the second, of windows with context alone: sentences
    "belonging to the same sliding window". ``--best-checkpoint-metric loss`` (fairseq's default and the
    paper's choice) and ``current_loss`` both select by the translation of current sentences; only
    ``current_loss`` compares runs with different discounts. With ``--token-weights`` the training's ``loss``
    has the weights of words, too, and ``token_weight`` is the mean of those of current sentences; validation
    has none of them. The loss is divided by the number of tokens, so that a word without need counts in every
    batch what it counts without weights; ``--discount-normalisation weights`` divides by their sum.
    """

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        label_smoothing: float,
        ignore_prefix_size: int = 0,
        report_accuracy: bool = False,
        context_discount: float = 0.01,
        discount_normalisation: str = "tokens",
    ):
        super().__init__(task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy)
        if not 0 <= context_discount <= 1:
            raise BadInput(f"--context-discount must be between 0 and 1, found {context_discount}")
        if SEPARATOR not in task.target_dictionary:
            raise BadInput(f"the context-discounted loss needs {SEPARATOR} in the target dictionary")
        if sentence_avg and discount_normalisation == "weights":
            raise BadInput("--discount-normalisation weights contradicts --sentence-avg")
        self.separator = task.target_dictionary.index(SEPARATOR)
        self.eos = task.target_dictionary.eos()
        self.context_discount = context_discount
        self.discount_normalisation = discount_normalisation
        self.weighs_words = getattr(getattr(task, "cfg", None), "token_weights", None) is not None
        self.window_sums: Dict[str, Tensor] = {}

    def forward(
        self, model: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Any, Dict[str, Any]]:
        """As fairseq's ``forward``: returns the summed loss, the sample size, and what is logged."""
        loss, sample_size, logging_output = super().forward(model, sample, reduce)
        weight = self.window_sums.pop("weight")
        if self.discount_normalisation == "weights":
            sample_size = logging_output["sample_size"] = weight
        logging_output.update(self.window_sums)
        return loss, sample_size, logging_output

    def compute_loss(
        self, model: Any, net_output: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Tensor]:
        """Return the weighted loss and the unweighted nll loss; ``forward`` logs the ``window_sums``."""
        lprobs, _ = self.get_lprobs_and_target(model, net_output, sample)
        return self.window_loss(lprobs, sample, model.get_targets(sample, net_output), reduce)

    def token_weights(self, sample: Dict[str, Any], target: Tensor) -> Tensor:
        """The weights (B, T) of a batch's target tokens: those of equation 2, times those that the training
        set has for its words (``--token-weights``)."""
        weights = target_weights(target, self.separator, self.padding_idx, self.context_discount, self.eos)
        return weights * sample["token_weights"] if "token_weights" in sample else weights

    def window_loss(
        self, lprobs: Tensor, sample: Dict[str, Any], target: Tensor, reduce: bool = True
    ) -> Tuple[Tensor, Tensor]:
        """Do so from log-probabilities (N, V) of the tokens of ``target`` (B, T)."""
        flat_target = self._flat(target).squeeze(-1)
        nll, smooth = token_losses(lprobs, flat_target)
        real = flat_target.ne(self.padding_idx).unsqueeze(-1)
        context = self._flat(context_mask(target, self.separator, self.eos)) & real
        weights = self._flat(self.token_weights(sample, target))
        eps_i = self.eps / (lprobs.size(-1) - 1)
        with torch.no_grad():
            unweighted = (1.0 - self.eps - eps_i) * nll + eps_i * smooth
            current = real & ~context
            # the current sentences of windows that have context
            separators = sentence_ends(target, self.separator, self.eos)[:, self.ignore_prefix_size :]
            windows = separators.any(1, keepdim=True)
            beside = current & windows.expand_as(separators).reshape(-1, 1)
            self.window_sums = {
                "weight": weights.sum(),
                "current_loss": (unweighted * current).sum(),
                "current_ntokens": current.sum(),
                "context_loss": (unweighted * context).sum(),
                "context_nsentences": separators.sum(),
                "beside_context_loss": (unweighted * beside).sum(),
                "beside_context_nsentences": windows.sum(),
            }
            given = sample.get("token_weights")
            if given is None and self.training and self.weighs_words:
                # A worker whose batches end first takes one of a validation; all must log the same names.
                given = torch.ones_like(target)
            if given is not None:
                self.window_sums["token_weight"] = (self._flat(given).float() * current).sum()
        # Sums are taken before they are combined, as in fairseq, so that discount 1 gives the same bits.
        loss_parts = [nll * weights, smooth * weights]
        nll = nll * real
        if reduce:
            loss_parts, nll = [part.sum() for part in loss_parts], nll.sum()
        return (1.0 - self.eps - eps_i) * loss_parts[0] + eps_i * loss_parts[1], nll

    def _flat(self, values: Tensor) -> Tensor:
        return values[:, self.ignore_prefix_size :].reshape(-1, 1)

    @classmethod
    def reduce_metrics(cls, logging_outputs: List[Dict[str, Any]]) -> None:
        """Add up the sums of all workers and sub-batches, and take ratios of the results."""
        super().reduce_metrics(logging_outputs)
        log_mean(logging_outputs, "current_loss", "current_loss", "current_ntokens")
        log_mean(logging_outputs, "current_sentence_loss", "current_loss", "nsentences")
        log_mean(logging_outputs, "context_sentence_loss", "context_loss", "context_nsentences")
        log_mean(logging_outputs, _BESIDE_CONTEXT, "beside_context_loss", "beside_context_nsentences")
        tokens = logged_sum(logging_outputs, "current_ntokens")
        if tokens > 0 and any("token_weight" in log for log in logging_outputs):
            weight = logged_sum(logging_outputs, "token_weight") / tokens
            metrics.log_scalar("token_weight", weight, tokens, round=3)
        if logged_sum(logging_outputs, "context_nsentences") > 0:
            metrics.log_derived("current_context_ratio", _current_context_ratio)
