"""Scores translations in several contexts, and tests them against the document's own context."""

from dataclasses import dataclass
from typing import Any, Dict, List, Sequence

from ctxmt_fairseq.base.plots.charts import Point, draw_chart
from ctxmt_fairseq.base.tables import aligned_table, csv_text
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.evaluation.probe.prober import Outcome
from ctxmt_fairseq.evaluation.significance.measures import Measure
from ctxmt_fairseq.evaluation.significance.p_values import stars
from ctxmt_fairseq.evaluation.significance.resampling import total_score
from ctxmt_fairseq.evaluation.significance.systems import Comparison, compare_translations

CXMI = "CXMI (bits per word)"


@dataclass(frozen=True)
class Tests:
    """How differences are tested: what is resampled (document or sentence), and how often."""

    measures: Sequence[Measure]
    unit: str
    samples: int
    seed: int


@dataclass(frozen=True)
class ScoredOutcomes:
    """The outcomes, the document's own context first, each with its scores by metric (empty without
    translations); ``comparisons`` are of the others with the first."""

    outcomes: Sequence[Outcome]
    scores: Sequence[Dict[str, float]]
    comparisons: Sequence[Comparison]

    def records(self) -> List[Dict[str, Any]]:
        """For JSON: an entry for each context."""
        return [
            {"context": outcome.name, **scores, **outcome.cxmi.record()}
            for outcome, scores in zip(self.outcomes, self.scores, strict=True)
        ]

    def without_first(self) -> "ScoredOutcomes":
        """The same without the outcome that the others are compared with."""
        return ScoredOutcomes(self.outcomes[1:], self.scores[1:], self.comparisons)

    def table(self) -> str:
        """A row for each context."""
        head = ["context"]
        for metric in self.scores[0]:
            head += [metric, "difference", "p (Holm)", ""]
        rows = [[*head, "CXMI, bits/word", "bits/sentence", "nats/sentence", "nats/token"]]
        compared = {(row.b, row.metric): row for row in self.comparisons}
        for outcome, scores in zip(self.outcomes, self.scores, strict=True):
            cells = [outcome.name]
            for metric, score in scores.items():
                cells += [f"{score:.2f}", "", "", ""]
                if row := compared.get((outcome.name, metric)):
                    cells[-3:] = f"{row.result.difference:+.2f}", f"{row.p_holm:.4f}", stars(row.p_holm)
            cxmi = outcome.cxmi
            cells += [f"{cxmi.per_word:+.4f}", f"{cxmi.per_sentence:+.3f}"]
            cells += [f"{cxmi.nats_per_sentence:+.3f}", f"{cxmi.nats_per_token:+.4f}"]
            rows.append(cells)
        return aligned_table(rows)


def score_outcomes(outcomes: Sequence[Outcome], text: ProbedText, tests: Tests) -> ScoredOutcomes:
    """Score the outcomes, and test each one against the first, with Holm's correction over all of them."""
    first = outcomes[0].hypotheses
    if first is None:
        return ScoredOutcomes(outcomes, [{} for _ in outcomes], [])
    translations = [text.translation(outcome.hypotheses or []) for outcome in outcomes]
    scores = [
        {measure.name: total_score(measure.rows(0, each), measure.scores) for measure in tests.measures}
        for each in translations
    ]
    # The document's own context under another name has the very same bits, and is not tested.
    tested = [at for at, outcome in enumerate(outcomes) if not at or outcome.bits is not outcomes[0].bits]
    comparisons: List[Comparison] = []
    if len(tested) > 1 and len(first) > 1:
        names, texts = [outcomes[at].name for at in tested], [translations[at] for at in tested]
        how = tests.measures, [tests.unit], tests.samples, tests.seed
        comparisons = compare_translations(names, texts, *how)
    return ScoredOutcomes(outcomes, scores, comparisons)


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
