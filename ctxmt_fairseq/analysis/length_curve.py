"""Scores by the length of the source sentence, of several systems (Voita et al. 2018, figure 4)."""

import io
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.charts import Panel, Point, chart
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.measures import SacrebleuMeasure
from ctxmt_fairseq.evaluation.significance.resampling import bootstrap_scores
from ctxmt_fairseq.tables import aligned_table


@dataclass(frozen=True)
class Bucket:
    """Sentences of like length.

    Attributes:
        least, most: words of the source, inclusive; most None: any number.
        sentences: how many there are.
        scores, low, high: corpus score of each system on them, and the 2.5 and 97.5 percentiles of bootstrap
            samples; none without sentences.
    """

    least: int
    most: Optional[int]
    sentences: int
    scores: List[float]
    low: List[float]
    high: List[float]

    @property
    def name(self) -> str:
        """Such as 11-20, or > 50."""
        return f"{self.least}-{self.most}" if self.most is not None else f"> {self.least - 1}"


def length_curve(
    sources: Sequence[str],
    translations: Sequence[Translation],
    measure: SacrebleuMeasure,
    edges: Sequence[int],
    samples: int,
    seed: int,
) -> List[Bucket]:
    """The scores of systems by buckets of source length in white-space words.

    Args:
        sources: N sentences.
        translations: of the systems, N lines each, with the same reference.
        edges: the last length of each bucket but the last, ascending.
        samples: of the bootstrap; the same for all systems.

    Raises:
        BadInput: edges that do not ascend.
    """
    if list(edges) != sorted(set(edges)) or min(edges) < 1:
        raise BadInput(
            f"--edges: expected ascending lengths of at least 1, found {' '.join(map(str, edges))}"
        )
    lengths = np.array([len(source.split()) for source in sources])
    statistics = [measure.rows(number, each) for number, each in enumerate(translations)]
    buckets = []
    for least, most in zip([0, *(edge + 1 for edge in edges)], [*edges, None], strict=True):
        chosen = (lengths >= least) & (lengths <= (most if most is not None else lengths.max(initial=0)))
        rows = [each[chosen] for each in statistics]
        count = int(chosen.sum())
        if not count:
            buckets.append(Bucket(least, most, 0, [], [], []))
            continue
        scores = [float(measure.scores(each.sum(0, keepdims=True))[0]) for each in rows]
        drawn = bootstrap_scores(rows, measure.scores, samples, seed)
        low, high = (np.percentile(drawn, share, axis=1).tolist() for share in (2.5, 97.5))
        buckets.append(Bucket(least, most, count, scores, low, high))
    return buckets


def curve_table(names: Sequence[str], buckets: Sequence[Bucket]) -> str:
    """The scores with their bands, aligned."""
    rows = [["words", "sentences", *names]]
    for bucket in buckets:
        cells = [
            f"{score:.2f} ({low:.2f} .. {high:.2f})"
            for score, low, high in zip(bucket.scores, bucket.low, bucket.high, strict=True)
        ] or ["-"] * len(names)
        rows.append([bucket.name, str(bucket.sentences), *cells])
    return aligned_table(rows)


def curve_records(names: Sequence[str], buckets: Sequence[Bucket]) -> List[Dict[str, Any]]:
    """A record for each bucket and system, for JSON and CSV."""
    return [
        {
            "least": bucket.least,
            "most": bucket.most,
            "sentences": bucket.sentences,
            "system": name,
            "score": score,
            "low": low,
            "high": high,
        }
        for bucket in buckets
        for name, score, low, high in zip(names, bucket.scores, bucket.low, bucket.high, strict=False)
    ]


def curve_csv(names: Sequence[str], buckets: Sequence[Bucket]) -> str:
    """The records as CSV; names in quotes."""
    import csv

    text = io.StringIO()
    writer = csv.DictWriter(text, ["least", "most", "sentences", "system", "score", "low", "high"])
    writer.writeheader()
    writer.writerows(curve_records(names, buckets))
    return text.getvalue()


def curve_picture(names: Sequence[str], buckets: Sequence[Bucket], metric: str) -> bytes:
    """A line with its band for each system, as the content of a PNG file; empty buckets are left out."""
    shown = [bucket for bucket in buckets if bucket.sentences]
    lines = {
        name: {
            f"{bucket.name}\n{bucket.sentences:,}": Point(
                bucket.scores[number], bucket.low[number], bucket.high[number]
            )
            for bucket in shown
        }
        for number, name in enumerate(names)
    }
    panel = Panel(f"{metric} (0 to 100), 95 % band of a bootstrap", lines)
    return chart([panel], "words of the source; sentences")
