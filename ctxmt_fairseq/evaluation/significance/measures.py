"""Metrics as sums over sentences: what a sentence adds, and the score of such a sum. sacrebleu's own."""

from dataclasses import dataclass
from typing import Any, Optional, Sequence

import numpy as np

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.metrics import bleu, chrf


@dataclass(frozen=True)
class Measure:
    """A metric of sacrebleu.

    Attributes:
        family: metrics of one family have the same statistics.
    """

    name: str
    family: str
    metric: Any

    @property
    def signature(self) -> str:
        """What the score was computed with."""
        return self.metric.get_signature().format()

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """A row of counts per sentence: (N, K)."""
        rows = self.metric._extract_corpus_statistics(hypotheses, [references])
        self.metric.corpus_score(hypotheses[:1], [references[:1]])  # fills in the signature
        return np.array(rows, dtype=np.float64)

    def scores(self, sums: np.ndarray) -> np.ndarray:
        """Corpus scores (R,), 0 to 100, of summed statistics (R, K)."""
        return np.array([self.metric._compute_score_from_stats(row).score for row in sums.tolist()])


MEASURES = ("bleu", "chrf1", "chrf2", "chrf3")


def measure(name: str, tokenize: Optional[str] = None, lowercase: bool = False) -> Measure:
    """The measure of a name from ``MEASURES``.

    Raises:
        BadInput: no such measure, or no such tokeniser.
    """
    if name == "bleu":
        return Measure(name, "bleu", bleu(tokenize, lowercase))
    if name in MEASURES:
        return Measure(name, "chrf", chrf(int(name[-1]), lowercase))
    raise BadInput(f"--metric {name}: expected one of {', '.join(MEASURES)}")
