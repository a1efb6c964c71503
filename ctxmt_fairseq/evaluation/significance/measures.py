"""sacrebleu's metrics and COMET as sums over sentences: what a sentence adds, and the score of a sum."""

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.comet.comet_score import CometScore
from ctxmt_fairseq.evaluation.metrics import Translation, bleu, chrf
from ctxmt_fairseq.evaluation.significance.resampling import ratio

MEASURES = ("bleu", "chrf1", "chrf2", "chrf3")


@dataclass(frozen=True)
class SacrebleuMeasure:
    """A metric of sacrebleu, 0 to 100. Metrics of one family have the same statistics; tables show ``digits``
    after the point."""

    name: str
    family: str
    metric: Any
    digits: int = 2

    @property
    def signature(self) -> str:
        """How the score is computed."""
        self.metric.corpus_score([""], [[""]])  # fills it in
        return self.metric.get_signature().format()

    def rows(self, system: int, translation: Translation) -> np.ndarray:
        """What each sentence adds, (N, K); ``system`` is its place among those that are compared."""
        return self.statistics(translation.hypotheses, translation.references[0])

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """The counts of each sentence, (N, K)."""
        return np.array(self.metric._extract_corpus_statistics(hypotheses, [references]), dtype=np.float64)

    def scores(self, sums: np.ndarray) -> np.ndarray:
        """The corpus scores (R,) of R sums of statistics (R, K)."""
        return np.array([self.metric._compute_score_from_stats(row).score for row in sums.tolist()])


@dataclass(frozen=True)
class CometMeasure:
    """COMET, as a ``SacrebleuMeasure``: one model's scores of the sentences of all systems, whose means are
    the systems' scores."""

    systems: Sequence[CometScore]
    name: str = "comet"
    family: str = "comet"
    digits: int = 4

    @property
    def signature(self) -> str:
        return self.systems[0].signature

    def rows(self, system: int, translation: Translation) -> np.ndarray:
        segments = np.array(self.systems[system].segments)
        return np.stack([segments, np.ones_like(segments)], axis=1)

    @staticmethod
    def scores(sums: np.ndarray) -> np.ndarray:
        return ratio(sums)


Measure = Union[SacrebleuMeasure, CometMeasure]


def measure(name: str, tokenize: Optional[str] = None, lowercase: bool = False) -> SacrebleuMeasure:
    """The measure of sacrebleu with this name from ``MEASURES``."""
    if name not in MEASURES:
        raise BadInput(f"--metric {name}: expected one of {', '.join(MEASURES)}, comet")
    if name == "bleu":
        return SacrebleuMeasure(name, "bleu", bleu(tokenize, lowercase))
    return SacrebleuMeasure(name, "chrf", chrf(int(name[-1]), lowercase))
