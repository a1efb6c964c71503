"""Scores of several systems by the length of the source sentence (Voita et al. 2018, figure 4)."""

from typing import List, NamedTuple, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.measures import SacrebleuMeasure
from ctxmt_fairseq.evaluation.significance.resampling import bootstrap_scores, total_score
from ctxmt_fairseq.text.languages import words_of


class LengthScore(NamedTuple):
    """A system's corpus score on sentences of similar length, with its bootstrap's 2.5 and 97.5 percentiles
    where there are several; none on no sentences. ``least`` and ``most`` are bounds in words of the source,
    both included; None is no bound."""

    least: int
    most: Optional[int]
    sentences: int
    system: str
    score: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None

    @property
    def bucket(self) -> str:
        """The name of the bucket, such as 11-20 or > 50."""
        return f"{self.least}-{self.most}" if self.most is not None else f"> {self.least - 1}"


def length_curve(
    sources: Sequence[str],
    names: Sequence[str],
    translations: Sequence[Translation],
    measure: SacrebleuMeasure,
    edges: Sequence[int],
    samples: int,
    seed: int,
) -> List[LengthScore]:
    """The scores of systems in buckets of source length, in words (``words_of``). Translations have a line
    for each source, and the same reference. ``edges`` are the last length of each bucket except the last one,
    ascending. All systems have the same bootstrap samples."""
    if list(edges) != sorted(set(edges)) or min(edges) < 1:
        given = " ".join(map(str, edges))
        raise BadInput(f"--edges: expected ascending lengths of at least 1, found {given}")
    lengths = np.array([len(words_of(source)) for source in sources])
    statistics = [measure.rows(number, each) for number, each in enumerate(translations)]
    found: List[LengthScore] = []
    for least, most in zip([0, *(edge + 1 for edge in edges)], [*edges, None], strict=True):
        chosen = (lengths >= least) & (lengths <= (np.inf if most is None else most))
        rows = [each[chosen] for each in statistics]
        count = int(chosen.sum())
        if not count:
            found += [LengthScore(least, most, 0, name) for name in names]
            continue
        bands = np.percentile(bootstrap_scores(rows, measure.scores, samples, seed), (2.5, 97.5), axis=1)
        for name, row, band in zip(names, rows, bands.T.tolist(), strict=True):
            score = total_score(row, measure.scores)
            found.append(LengthScore(least, most, count, name, score, *(band if count > 1 else ())))
    return found


def length_table(found: Sequence[LengthScore]) -> str:
    """The scores with their bands as an aligned table."""
    head = ["words", "sentences", *dict.fromkeys(one.system for one in found)]
    rows = {one.bucket: [one.bucket, str(one.sentences)] for one in found}
    for one in found:
        score = "-" if one.score is None else f"{one.score:.2f}"
        band = "" if one.low is None else f" ({one.low:.2f} .. {one.high:.2f})"
        rows[one.bucket].append(score + band)
    return aligned_table([head, *rows.values()])


def length_points(found: Sequence[LengthScore], metric: str) -> List[Point]:
    """The points of a line with its band for each system; empty buckets are left out."""
    measure = f"{metric} (0 to 100), 95 % band of a bootstrap"
    return [
        Point(measure, one.system, f"{one.bucket}\n{one.sentences:,}", one.score, one.low, one.high)
        for one in found
        if one.score is not None
    ]
