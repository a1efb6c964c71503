"""Context-aware learning (Jean and Cho 2019), as in the thesis, section 2.3, equations 2.8 to 2.10: the loss
grows where a translation is hardly likelier with its own context than with a random one."""

import logging
import math
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch
from fairseq.criterions import register_criterion
from fairseq.logging import metrics
from torch import Tensor
from torch.nn.functional import relu

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import (
    ContextDiscountedCriterion,
    ContextDiscountedCriterionConfig,
    context_mask,
    log_mean,
)
from ctxmt_fairseq.data.context_exchange import derangement
from ctxmt_fairseq.data.context_options import explained

logger = logging.getLogger(__name__)

LEVELS = ("data", "sentence", "token")
_OPEN = "_open_margin_data"  # of validations, and maybe negative; no name that begins with _ is printed


def over_contexts(scores: Tensor) -> Tensor:
    """Equation 2.10: the log of the mean probability over M random contexts, (M, ...) -> (...)."""
    return scores.logsumexp(0) - math.log(len(scores))


def margin_losses(
    real: Tensor, random: Tensor, current: Tensor, margins: Dict[str, float], whole: bool = True
) -> Dict[str, Tensor]:
    """The terms of equation 2.9 without their weights, a scalar in nats for each level.

    A sentence's probability without context is the mean of its probabilities with M contexts, not the product
    of its tokens' means. The data's is the product of the sentences', because their contexts are independent.

    Args:
        real: (B, T) log-probabilities of B sentences' target tokens with their own context.
        random: (M, B, T), the same with each of M random contexts.
        current: BoolTensor (B, T), true where there is a token; elsewhere the scores are 0.
        margins: delta of each level, in nats per token.
        whole: whether these sentences are the whole data of the data level. Otherwise its term is what is to
            be added up over all of it, before the positive part is taken.
    """
    lead = real - over_contexts(random)
    lengths = current.sum(1).type_as(real)
    sentence_lead = real.sum(1) - over_contexts(random.sum(2))
    data = lengths.sum() * margins["data"] - sentence_lead.sum()
    return {
        "data": relu(data) if whole else data,
        "sentence": relu(lengths * margins["sentence"] - sentence_lead).sum(),
        "token": (relu(margins["token"] - lead) * current).sum(),
    }


def _margin(level: str, default: float, shown: str = "") -> Any:
    text = f"by how much a {level} should be likelier with its own context, in nats per token"
    return explained(default, text + shown)


def _weight(level: str, default: float) -> Any:
    return explained(default, f"weight of the {level} level's margin loss")


@dataclass
class ContextMarginCriterionConfig(ContextDiscountedCriterionConfig):
    context_discount: float = explained(
        1.0, "weight of the context sentences in the base loss, 0 to 1 (1: no discount)"
    )
    margin_data: float = _margin("mini-batch", math.log(1.1), " (default: log 1.1)")
    margin_sentence: float = _margin("sentence", 0.0)
    margin_token: float = _margin("token", 0.0)
    margin_data_weight: float = _weight("data", 1.0)
    margin_sentence_weight: float = _weight("sentence", 0.0)
    margin_token_weight: float = _weight("token", 1.0)
    margin_contexts: int = explained(
        1, "random contexts for each sentence; each costs a pass through the model"
    )
    margin_detach: bool = explained(False, "no gradient through the scores with random contexts")


@register_criterion("context_margin", dataclass=ContextMarginCriterionConfig)
class ContextMarginCriterion(ContextDiscountedCriterion):
    """The context-discounted criterion plus the margin losses on the mini-batch.

    With its default discount of 1 the base is exactly fairseq's label-smoothed cross-entropy. A random
    context is the whole context, source and target, of another line of the batch (``task.exchange_context``).
    The unsmoothed log-probabilities of the current target tokens and ``</s>`` are compared. A batch of one
    row adds nothing. Sample size and ``nll_loss`` are the base's. In batches of neighbours (--batch-runs) the
    other row's context may have the row's own sentence, and the comparison says less.

    It logs in bits, besides the base's metrics: ``context_gap``, the mean over those tokens of
    log p(own context) - log p(random context), in validation also with all weights 0; and ``margin_data``,
    ``margin_sentence`` and ``margin_token``, normalised like ``loss``, which is the base's plus their
    weighted sum. To compare runs or choose checkpoints by translation alone, use ``current_loss``.

    No number of a validation depends on its batches: a random context is that of any sentence of the split,
    always the same one (``ExchangePartners``); ``margin_data`` is the level's loss on the whole split, and
    ``loss`` leaves it out.

    Training is reproducible: the exchange is drawn from torch's CPU generator, which fairseq seeds in each
    update. The passes with random contexts come after the
    base's, so they leave its dropout as it is in an update of one batch; with --update-freq later batches
    drop out other units. --ignore-prefix-size is refused, because every token of the current sentence is
    compared.
    """

    def __init__(self, cfg: ContextMarginCriterionConfig, task: Any):
        super().__init__(
            task,
            cfg.sentence_avg,
            cfg.label_smoothing,
            cfg.ignore_prefix_size,
            cfg.report_accuracy,
            cfg.context_discount,
            cfg.discount_normalisation,
        )
        self.margins = {level: getattr(cfg, f"margin_{level}") for level in LEVELS}
        self.weights = {level: getattr(cfg, f"margin_{level}_weight") for level in LEVELS}
        self.contexts = cfg.margin_contexts
        self.detach = cfg.margin_detach
        for level, weight in self.weights.items():
            if not weight >= 0:
                raise BadInput(f"--margin-{level}-weight {weight}: expected 0 or more")
            if not math.isfinite(self.margins[level]):
                raise BadInput(f"--margin-{level} {self.margins[level]}: expected a number")
        if self.contexts < 1:
            raise BadInput(f"--margin-contexts {self.contexts}: expected 1 or more")
        if cfg.ignore_prefix_size:
            raise BadInput(
                "--ignore-prefix-size: context_margin compares every token of the current sentence"
            )
        if not hasattr(task, "exchange_context"):
            raise BadInput("--criterion context_margin needs one of the tasks with context")
        if getattr(task, "options", {}).get("context_end") == "eos":
            raise BadInput("--context-end eos: its windows cannot exchange their contexts")
        if hasattr(task, "request"):
            task.request.exchanges = self.contexts
        if getattr(getattr(task, "cfg", None), "batch_runs", 0):
            logger.warning("--batch-runs: a random context of context_margin may hold the sentence itself")

    def compute_loss(
        self, model: Any, net_output: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Tensor]:
        """Return the base's losses; if ``reduce``, the margin losses are added to the first."""
        lprobs, _ = self.get_lprobs_and_target(model, net_output, sample)
        target = model.get_targets(sample, net_output)
        loss, nll = self.window_loss(lprobs, sample, target, reduce)
        if model.training and not any(self.weights.values()):
            return loss, nll
        width = int(sample["parts"].target[:, 1].max())
        real, current = self.current_scores(lprobs, target, width)
        random = self._random_scores(model, sample, width)
        if random is None:  # nothing to compare; but all workers must log the same names
            real, random, current = torch.zeros_like(real), real.new_zeros(1, *real.shape), current & False
        losses = margin_losses(real, random, current, self.margins, whole=model.training)
        with torch.no_grad():
            self.window_sums.update({f"margin_{level}": value.detach() for level, value in losses.items()})
            if not model.training:
                self.window_sums["open_margin_data"] = losses.pop("data")
                del self.window_sums["margin_data"]
            self.window_sums["context_gap"] = (real - over_contexts(random)).sum()
            self.window_sums["context_gap_ntokens"] = current.sum()
        if reduce:
            loss = loss + sum(self.weights[level] * value for level, value in losses.items())
        return loss, nll

    def current_scores(self, lprobs: Tensor, target: Tensor, width: int) -> Tuple[Tensor, Tensor]:
        """What the margins compare, from ``lprobs`` (B * T, V): the log-probabilities (B, width) of each
        row's current target tokens (of the longest sentence ``width``), 0 after them; and where they are,
        bool (B, width)."""
        current = target.ne(self.padding_idx) & ~context_mask(target, self.separator)
        places = torch.arange(width, device=target.device)
        there = places < current.sum(1, keepdim=True)
        columns = (current.long().argmax(1, keepdim=True) + places).masked_fill(~there, 0)
        scores = lprobs.gather(-1, target.reshape(-1, 1)).view_as(target).gather(1, columns)
        return scores.masked_fill(~there, 0.0), there

    def _random_scores(self, model: Any, sample: Dict[str, Any], width: int) -> Optional[Tensor]:
        """The same log-probabilities with M random contexts, (M, B, width); None: there is no other row."""
        scores = []
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.detach):
            for exchanged, rows in self._exchanges(model, sample):
                net_output = model(**exchanged["net_input"])
                lprobs, _ = self.get_lprobs_and_target(model, net_output, exchanged)
                target = model.get_targets(exchanged, net_output)
                scores.append(self.current_scores(lprobs, target, width)[0][rows])
        return torch.stack(scores) if scores else None

    def _exchanges(self, model: Any, sample: Dict[str, Any]) -> Iterator[Tuple[Dict[str, Any], Any]]:
        """M batches with random contexts, and where the rows of ``sample`` are in them."""
        if not model.training:
            partners = sample.get("partners") or {"orders": ()}
            for order in partners["orders"]:
                order = torch.from_numpy(order)
                yield self.task.exchange_context(partners["batch"], order), partners["rows"]
            return
        for _ in range(self.contexts):
            order = derangement(len(sample["target"]), lines=sample["parts"].lines)
            if order is not None:
                yield self.task.exchange_context(sample, order), slice(None)

    @classmethod
    def reduce_metrics(cls, logging_outputs: List[Dict[str, Any]]) -> None:
        super().reduce_metrics(logging_outputs)
        if any("context_gap" in log for log in logging_outputs):
            for level in LEVELS[1:]:
                log_mean(logging_outputs, f"margin_{level}", f"margin_{level}", "sample_size")
            if any("open_margin_data" in log for log in logging_outputs):
                log_mean(logging_outputs, _OPEN, "open_margin_data", "sample_size")
                metrics.log_derived("margin_data", lambda meters: max(0.0, round(meters[_OPEN].avg, 3)))
            else:
                log_mean(logging_outputs, "margin_data", "margin_data", "sample_size")
            log_mean(logging_outputs, "context_gap", "context_gap", "context_gap_ntokens")
