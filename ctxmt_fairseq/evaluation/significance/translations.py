"""Compares translations of the same text: are BLEU and chrF of one system higher than another's?"""

from dataclasses import asdict, dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import records_table
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.measures import Measure
from ctxmt_fairseq.evaluation.significance.p_values import holm, stars, system_pairs
from ctxmt_fairseq.evaluation.significance.resampling import PairedTest, Scorer, paired_tests

UNITS = ("document", "sentence")
COLUMNS = {
    "systems": "{b} - {a}", "metric": "{metric}", "unit": "{unit}", "n": "{units}",
    "a": "{score_a:.{digits}f}", "b": "{score_b:.{digits}f}", "b - a": "{difference:+.{digits}f}",
    "95 % interval": "{low:+.{digits}f} .. {high:+.{digits}f}", "b wins %": "{percent:.1f}",
    "bootstrap p": "{bootstrap_p:.4f}", "randomization p": "{randomization_p:.4f}", "Holm": "{p_holm:.4f}",
    "": "{stars}",
}  # fmt: skip


@dataclass(frozen=True)
class TranslationComparison:
    """Two systems compared by one metric with one sampling unit; differences are ``b`` minus ``a``.

    Attributes:
        unit: what is resampled, sentence or document; ``units`` is how many there are.
        p_holm: p of approximate randomization, corrected over the systems that are compared by this metric
            and unit.
        digits: how many digits tables show after the point.
    """

    a: str
    b: str
    metric: str
    unit: str
    units: int
    result: PairedTest
    p_holm: float
    digits: int = 2

    def as_dict(self) -> Dict[str, Any]:
        """For JSON."""
        record = asdict(self)
        del record["result"], record["digits"]
        return {**record, **self.result._asdict(), "stars": stars(self.p_holm)}


def compare_translations(
    names: Sequence[str],
    translations: Sequence[Translation],
    measures: Sequence[Measure],
    units: Sequence[str],
    samples: int = 10_000,
    seed: int = 1,
    all_pairs: bool = False,
) -> List[TranslationComparison]:
    """Paired bootstrap and approximate randomization of systems on one text.

    The score is always the corpus score over sentences. With documents as units, whole documents are drawn
    and swapped, because their sentences are not independent.

    Args:
        names, translations: those of the systems; all translations have the same reference and documents.
        units: from ``UNITS``.
        samples: the number of bootstrap samples, and of shuffles.
        all_pairs: compare all systems with each other, not only with the first.
    """
    statistics = {one.family: [one.rows(at, each) for at, each in enumerate(translations)]
                  for one in {one.family: one for one in measures}.values()}  # fmt: skip
    tested = []
    for unit in units:
        for measure in measures:
            rows = [per_unit(each, unit, translations[0]) for each in statistics[measure.family]]
            tested.append(Tested(measure.name, unit, rows, measure.scores, measure.digits))
    return compare_systems(names, tested, samples, seed, all_pairs)


class Tested(NamedTuple):
    """A measure with a unit, by which systems are compared.

    Attributes:
        rows: for each system (U, K), a row for each unit.
        scores: turns sums of rows into scores.
    """

    metric: str
    unit: str
    rows: Sequence[np.ndarray]
    scores: Scorer
    digits: int = 2


def compare_systems(
    names: Sequence[str], tested: Sequence[Tested], samples: int, seed: int, all_pairs: bool = False
) -> List[TranslationComparison]:
    """Both paired tests for each measure, with Holm's correction over the systems that are compared."""
    found = []
    pairs = system_pairs(len(names), all_pairs)
    for metric, unit, rows, scores, digits in tested:
        tests = paired_tests(rows, pairs, scores, samples, seed)
        corrected = holm([test.randomization_p for test in tests])
        found += [
            TranslationComparison(names[a], names[b], metric, unit, len(rows[0]), test, p, digits)
            for (a, b), test, p in zip(pairs, tests, corrected, strict=True)
        ]
    return found


def per_unit(rows: np.ndarray, unit: str, translation: Translation) -> np.ndarray:
    """The statistics (N, K) of sentences summed over sampling units: (U, K)."""
    if unit not in UNITS:
        raise BadInput(f"--unit {unit}: expected {' or '.join(UNITS)}")
    if unit == "document":
        if translation.document_lengths is None:
            raise BadInput("--unit document needs --docids, which says where documents begin")
        rows = np.add.reduceat(rows, np.cumsum([0, *translation.document_lengths[:-1]]))
    if len(rows) < 2:
        raise BadInput(f"expected two or more {unit}s to draw from, found {len(rows)}")
    return rows


def length_ratio(translation: Translation) -> Optional[float]:
    """The white-space words of the translation divided by those of the reference; None if there are none."""
    texts = translation.hypotheses, translation.references[0]
    hypothesis, reference = (sum(len(line.split()) for line in lines) for lines in texts)
    return hypothesis / reference if reference else None


def comparison_table(comparisons: Sequence[TranslationComparison]) -> str:
    """An aligned table with a row for each comparison."""
    extra = ({"digits": one.digits, "percent": 100 * one.result.wins} for one in comparisons)
    return records_table(
        ({**one.as_dict(), **more} for one, more in zip(comparisons, extra, strict=True)), COLUMNS
    )
