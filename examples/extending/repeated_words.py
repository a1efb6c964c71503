"""A loss of your own: words that the translation of the context has, too, count more (lexical cohesion)."""

from dataclasses import dataclass, field
from typing import Any, Dict, Tuple

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from torch import Tensor

from ctxmt_fairseq.criterions.context_discounted import context_mask, token_losses
from ctxmt_fairseq.text.symbols import SEPARATOR


def repeated(target: Tensor, separator: int) -> Tensor:
    """BoolTensor (B, T): the tokens of the current sentence that stand before it in its window, too, of
    windows ``target`` (B, T), where it follows the last separator."""
    context = context_mask(target, separator)
    same = target[:, :, None].eq(target[:, None, :])  # (B, T, T)
    return (same & context[:, None, :]).any(2) & ~context


@dataclass
class RepeatedWordsConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """Each field is an option of ``fairseq-train``."""

    repeated_weight: float = field(default=2.0, metadata={"help": "weight of a repeated word; 1: as others"})


@register_criterion("repeated_words", dataclass=RepeatedWordsConfig)
class RepeatedWords(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label-smoothed cross-entropy with a weight for each target token; weight 1 is fairseq's."""

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        label_smoothing: float,
        ignore_prefix_size: int = 0,
        report_accuracy: bool = False,
        repeated_weight: float = 2.0,
    ):
        super().__init__(task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy)
        self.separator = task.target_dictionary.index(SEPARATOR)
        self.repeated_weight = repeated_weight

    def compute_loss(
        self, model: Any, net_output: Any, sample: Dict[str, Any], reduce: bool = True
    ) -> Tuple[Tensor, Tensor]:
        """The weighted loss and the unweighted nll loss, sums over the batch."""
        lprobs, target = self.get_lprobs_and_target(model, net_output, sample)  # (B * T, V), (B * T,)
        nll, smooth = token_losses(lprobs, target)
        real = target.ne(self.padding_idx)[:, None]
        more = repeated(sample["target"], self.separator)[:, self.ignore_prefix_size :].reshape(-1, 1)
        weights = real * (1 + (self.repeated_weight - 1) * more)
        eps = self.eps / (lprobs.size(-1) - 1)
        loss = (1 - self.eps - eps) * (nll * weights).sum() + eps * (smooth * weights).sum()
        return loss, (nll * real).sum()
