"""COMET's scores of a translation."""

from dataclasses import dataclass
from pathlib import Path
from typing import List

from ctxmt_fairseq.evaluation.metrics import MetricScore


@dataclass(frozen=True)
class CometScore:
    """One model's scores of a translation, with k previous sentences (``context``) and maybe references.

    Attributes:
        score: COMET's system score: the mean, about 0 to 1, for newer models always in this range.
        segments: a score for each scored line.
        shortened, too_long: see ``CometInputs``.
    """

    name: str
    context: int
    references: bool
    score: float
    segments: List[float]
    shortened: int
    too_long: int
    signature: str

    @property
    def title(self) -> str:
        """The name of the metric in tables."""
        return f"COMET {Path(self.name).name}"

    def metric_score(self) -> MetricScore:
        """The score as one of the metrics of a translation."""
        level = f"document, k={self.context}" if self.context else "sentence"
        return MetricScore(self.title, level, self.score, self.signature, digits=4)
