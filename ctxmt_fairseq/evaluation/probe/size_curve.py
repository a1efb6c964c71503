"""Curves of CXMI and translation scores by the size of the context, as a picture and its numbers."""

from typing import Sequence

from ctxmt_fairseq.base.plots.charts import Point, draw_chart
from ctxmt_fairseq.base.tables import csv_text
from ctxmt_fairseq.evaluation.probe.outcome_scores import ScoredOutcomes

CXMI = "CXMI (bits per word)"


def size_table(sizes: Sequence[int], scored: ScoredOutcomes) -> str:
    """The numbers of the curve, as CSV."""
    rows = [
        {"size": size, **{name: f"{value:.6g}" for name, value in record.items() if name != "context"}}
        for size, record in zip(sizes, scored.records(), strict=True)
    ]
    return csv_text(rows)


def draw_sizes(sizes: Sequence[int], scored: ScoredOutcomes, title: str) -> bytes:
    """The curves as the content of a PNG file: CXMI above, the scores of the translations below."""
    points = []
    for size, outcome, scores in zip(sizes, scored.outcomes, scored.scores, strict=True):
        points.append(Point(CXMI, "CXMI", size, outcome.cxmi.per_word))
        points += [Point("score (0 to 100)", name, size, score) for name, score in scores.items()]
    return draw_chart(points, "context within so many sentences of the current one", title, bases={CXMI: 0})
