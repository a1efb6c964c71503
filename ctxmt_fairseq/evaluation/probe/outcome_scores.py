"""Scores translations in several contexts, and tests them against the document's own context."""

from dataclasses import dataclass, replace
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
    """Outcomes with the scores of their translations, if there are any, and ``comparisons`` with the
    document's own context."""

    outcomes: Sequence[Outcome]
    comparisons: Sequence[Comparison]

    def records(self) -> List[Dict[str, Any]]:
        """For JSON: an entry for each context."""
        return [{"context": outcome.name, **outcome.numbers} for outcome in self.outcomes]

    def table(self) -> str:
        """A row for each context."""
        head = ["context"]
        for metric in self.outcomes[0].scores:
            head += [metric, "difference", "p (Holm)", ""]
        rows = [[*head, "CXMI, bits/word", "bits/sentence", "nats/sentence", "nats/token"]]
        compared = {(row.b, row.metric): row for row in self.comparisons}
        for outcome in self.outcomes:
            cells = [outcome.name]
            for metric, score in outcome.scores.items():
                cells += [f"{score:.2f}", "", "", ""]
                if row := compared.get((outcome.name, metric)):
                    cells[-3:] = f"{row.result.difference:+.2f}", f"{row.p_holm:.4f}", stars(row.p_holm)
            digits = (4, 3, 3, 4)
            cells += (f"{value:+.{places}f}" for value, places in zip(outcome.cxmi, digits, strict=True))
            rows.append(cells)
        return aligned_table(rows)


def score_outcomes(outcomes: Sequence[Outcome], text: ProbedText, tests: Tests) -> ScoredOutcomes:
    """Score the outcomes, and test each one against the first, with Holm's correction over all of them."""
    first = outcomes[0].hypotheses
    if first is None:
        return ScoredOutcomes(outcomes, [])
    translations = [text.translation(outcome.hypotheses or []) for outcome in outcomes]
    scores = (
        {measure.name: total_score(measure.rows(0, each), measure.scores) for measure in tests.measures}
        for each in translations
    )
    outcomes = [replace(outcome, scores=each) for outcome, each in zip(outcomes, scores, strict=True)]
    # The document's own context under another name has the very same bits, and is not tested.
    tested = [at for at, outcome in enumerate(outcomes) if not at or outcome.bits is not outcomes[0].bits]
    comparisons: List[Comparison] = []
    if len(tested) > 1 and len(first) > 1:
        names, texts = [outcomes[at].name for at in tested], [translations[at] for at in tested]
        how = tests.measures, [tests.unit], tests.samples, tests.seed
        comparisons = compare_translations(names, texts, *how)
    return ScoredOutcomes(outcomes, comparisons)


def size_table(sizes: Sequence[int], scored: ScoredOutcomes) -> str:
    """The numbers of the curve, as CSV."""
    rows = [
        {"size": size, **{name: f"{value:.6g}" for name, value in outcome.numbers.items()}}
        for size, outcome in zip(sizes, scored.outcomes, strict=True)
    ]
    return csv_text(rows)


def draw_sizes(sizes: Sequence[int], scored: ScoredOutcomes, title: str) -> bytes:
    """The curves as the content of a PNG file: CXMI above, the scores of the translations below."""
    points = []
    for size, outcome in zip(sizes, scored.outcomes, strict=True):
        points.append(Point(CXMI, "CXMI", size, outcome.cxmi.cxmi))
        points += [Point("score (0 to 100)", name, size, score) for name, score in outcome.scores.items()]
    return draw_chart(points, "context within so many sentences of the current one", title, bases={CXMI: 0})
