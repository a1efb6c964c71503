"""CXMI and translation scores against the size of the context, as a picture and its numbers."""

from typing import Dict, Iterable, Sequence

from ctxmt_fairseq.charts import Panel, Place, Point, chart
from ctxmt_fairseq.evaluation.probe.scores import ScoredOutcomes


def size_table(sizes: Sequence[int], scored: ScoredOutcomes) -> str:
    """The numbers of the curve, as CSV."""
    records = scored.records()
    names = [name for name in records[0] if name != "context"]
    lines = [["size", *names]]
    lines += [
        [str(size), *(f"{record[name]:.6g}" for name in names)]
        for size, record in zip(sizes, records, strict=True)
    ]
    return "".join(",".join(line) + "\n" for line in lines)


def size_picture(sizes: Sequence[int], scored: ScoredOutcomes, title: str) -> bytes:
    """The curves as the content of a PNG file: CXMI above, the translations' scores below it.

    Args:
        sizes: in ascending order.
    """
    cxmi = (outcome.cxmi.per_word for outcome in scored.outcomes)
    panels = [Panel("CXMI (bits per word)", {"CXMI": _line(sizes, cxmi)}, base=0)]
    metrics = list(scored.scores[0])
    if metrics:
        lines = {name: _line(sizes, (scores[name] for scores in scored.scores)) for name in metrics}
        panels.append(Panel("score (0 to 100)", lines))
    return chart(panels, "context within so many sentences of the current one", title)


def _line(sizes: Sequence[int], values: Iterable[float]) -> Dict[Place, Point]:
    return {size: Point(value) for size, value in zip(sizes, values, strict=True)}
