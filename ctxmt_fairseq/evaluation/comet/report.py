"""What COMET says of a translation."""

from dataclasses import dataclass
from pathlib import Path
from typing import List

from ctxmt_fairseq.evaluation.metrics import MetricScore


@dataclass(frozen=True)
class CometScore:
    """One model's view of a translation.

    Attributes:
        name: of the model.
        context: k previous sentences; 0: sentences alone.
        references: whether it read them.
        score: the mean, COMET's system score; about 0 to 1, the newer models within it.
        segments: a score for each scored line.
        shortened, too_long: see ``CometInputs``.
        signature: what it was computed with.
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
        """Of the metric."""
        return f"COMET {Path(self.name).name}"

    def metric_score(self) -> MetricScore:
        """As an entry of the scores of a translation."""
        return MetricScore(self.title, self.level, self.score, self.signature, digits=4)

    @property
    def level(self) -> str:
        """As in the tables of ``ctxmt score``."""
        return f"document, k={self.context}" if self.context else "sentence"
