"""Context-discounted cross-entropy: focused concatenation (Lupo et al. 2022), section 3.1, equation 2."""

import math
from dataclasses import dataclass, field
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

from ctxmt_fairseq.data.symbols import SEPARATOR
from ctxmt_fairseq.errors import BadInput


def context_mask(target: Tensor, separator: int) -> Tensor:
    """BoolTensor (B, T), true up to and including the last separator of each row of ``target`` (B, T)."""
    places = torch.arange(1, target.size(1) + 1, device=target.device)
    last = (target.eq(separator) * places).amax(1, keepdim=True)  # 0 where the window is one sentence
    return places <= last


def target_weights(target: Tensor, separator: int, pad: int, discount: float) -> Tensor:
    """Weight of every target token (equation 2), float (B, T).

    ``discount`` for the context sentences and all separators, 1 for the current sentence and ``</s>``, 0 for
    pads; a window of one sentence has weight 1 everywhere.
    """
    weights = torch.where(context_mask(target, separator), discount, 1.0)
    return weights.masked_fill(target.eq(pad), 0.0)


def token_losses(lprobs: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
    """Negative log-probability of each target token, and the sum of the whole vocabulary's (for smoothing).

    Args:
        lprobs: (N, V) log-probabilities. target: LongTensor (N,).

    Returns:
        Two tensors (N, 1); pads are not left out.
    """
    return -lprobs.gather(-1, target.unsqueeze(-1)), -lprobs.sum(-1, keepdim=True)


_BESIDE_CONTEXT = "_beside_context_loss"  # fairseq keeps names that begin with _ out of its log


def _current_context_ratio(meters: Dict[str, Any]) -> float:
    current, context = meters[_BESIDE_CONTEXT], meters["context_sentence_loss"]
    if not context.count:  # fairseq has reset the meters, and no context sentence has come since
        return math.nan
    return round(current.avg / context.avg, 3)


@dataclass
class ContextDiscountedCriterionConfig(LabelSmoothedCrossEntropyCriterionConfig):
    context_discount: float = field(
        default=0.01,
        metadata={
            "help": "weight of the context sentences' loss, 0 to 1 (1: no discount; default: the paper's)"
        },
    )
    discount_normalisation: ChoiceEnum(["tokens", "weights"]) = field(  # type: ignore[valid-type]
        default="tokens",
        metadata={"help": "divide the loss by the number of target tokens, or by the sum of their weights"},
    )


@register_criterion(
    "context_discounted_label_smoothed_cross_entropy", dataclass=ContextDiscountedCriterionConfig
)
class ContextDiscountedCriterion(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label-smoothed cross-entropy with ``target_weights``; discount 1 is fairseq's exactly.

    Logged besides fairseq's metrics (``loss`` is the discounted loss, ``nll_loss`` and ``ppl`` count every
    token fully), in bits and without discount: ``current_loss``, the current sentence's loss per token, and
    for the paper's Figure 3 ``current_sentence_loss`` and ``context_sentence_loss``, the loss per current and
    per context sentence (a separator belongs to the sentence before it), and ``current_context_ratio``, the
    first, of windows that have context only, divided by the second: sentences "belonging to the same sliding
    window". ``--best-checkpoint-metric loss`` (fairseq's default and the paper's choice) and ``current_loss``
    both select by the translation of current sentences; only ``current_loss`` compares runs with different
    discounts.

    Raises:
        BadInput: discount outside [0, 1], a target dictionary without separator, --sentence-avg with weights.
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
        self.context_discount = context_discount
        self.discount_normalisation = discount_normalisation
        self.window_sums: Dict[str, Tensor] = {}

    def forward(
        self, model: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Any, Dict[str, Any]]:
        """fairseq's ``forward``: loss (summed), sample size, logging output."""
        loss, sample_size, logging_output = super().forward(model, sample, reduce)
        weight = self.window_sums.pop("weight")
        if self.discount_normalisation == "weights":
            sample_size = logging_output["sample_size"] = weight
        logging_output.update(self.window_sums)
        return loss, sample_size, logging_output

    def compute_loss(
        self, model: Any, net_output: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Tensor]:
        """The weighted loss and the unweighted nll loss; leaves ``window_sums`` for ``forward``."""
        lprobs, _ = self.get_lprobs_and_target(model, net_output, sample)
        return self.window_loss(lprobs, model.get_targets(sample, net_output), reduce)

    def window_loss(self, lprobs: Tensor, target: Tensor, reduce: bool = True) -> Tuple[Tensor, Tensor]:
        """As ``compute_loss``, from log-probabilities (N, V) of the tokens of ``target`` (B, T)."""
        flat_target = self._flat(target).squeeze(-1)
        nll, smooth = token_losses(lprobs, flat_target)
        real = flat_target.ne(self.padding_idx).unsqueeze(-1)
        context = self._flat(context_mask(target, self.separator)) & real
        weights = self._flat(target_weights(target, self.separator, self.padding_idx, self.context_discount))
        eps_i = self.eps / (lprobs.size(-1) - 1)
        with torch.no_grad():
            unweighted = (1.0 - self.eps - eps_i) * nll + eps_i * smooth
            current = real & ~context
            # the current sentences of windows that have context
            separators = target[:, self.ignore_prefix_size :].eq(self.separator)
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
        # Summed before they are combined, as fairseq does, so that discount 1 gives its bits.
        loss_parts = [nll * weights, smooth * weights]
        nll = nll * real
        if reduce:
            loss_parts, nll = [part.sum() for part in loss_parts], nll.sum()
        return (1.0 - self.eps - eps_i) * loss_parts[0] + eps_i * loss_parts[1], nll

    def _flat(self, values: Tensor) -> Tensor:
        return values[:, self.ignore_prefix_size :].reshape(-1, 1)

    @classmethod
    def reduce_metrics(cls, logging_outputs: List[Dict[str, Any]]) -> None:
        """Aggregate the sums of all workers and sub-batches; ratios are taken of the aggregates."""
        super().reduce_metrics(logging_outputs)

        def total(name: str) -> Any:
            return utils.item(sum(log.get(name, 0) for log in logging_outputs))

        def log_mean(name: str, value: float, count: float) -> None:
            if count > 0:
                metrics.log_scalar(name, value / count / math.log(2), count, round=3)

        current, context = total("current_loss"), total("context_loss")
        log_mean("current_loss", current, total("current_ntokens"))
        log_mean("current_sentence_loss", current, total("nsentences"))
        if total("context_nsentences") > 0:
            log_mean("context_sentence_loss", context, total("context_nsentences"))
            log_mean(_BESIDE_CONTEXT, total("beside_context_loss"), total("beside_context_nsentences"))
            metrics.log_derived("current_context_ratio", _current_context_ratio)
