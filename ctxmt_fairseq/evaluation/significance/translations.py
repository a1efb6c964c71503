"""Compares translations of the same text: are BLEU and chrF of one system higher than another's?"""

from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.correction import stars
from ctxmt_fairseq.evaluation.significance.measures import Measure
from ctxmt_fairseq.evaluation.significance.resampling import PairedTest, paired_tests
from ctxmt_fairseq.evaluation.significance.systems import holm_within, system_pairs
from ctxmt_fairseq.tables import aligned_table

UNITS = ("document", "sentence")


@dataclass(frozen=True)
class TranslationComparison:
    """Two systems under one metric and one sampling unit; differences are ``b`` minus ``a``.

    Attributes:
        a, b: the systems.
        unit: what is resampled: sentence or document.
        units: how many of them there are.
        result: of both tests.
        p_holm: of approximate randomization, corrected over the systems compared under this metric and unit.
        digits: of the scores, in tables.
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

    The score is the corpus score of sentences whatever the unit; of documents whole documents are drawn and
    swapped, for their sentences are not independent.

    Args:
        names, translations: of the systems; the translations have the same reference and documents.
        units: from ``UNITS``.
        samples: bootstrap samples, and shuffles.
        all_pairs: compare all systems with each other, not only with the first.

    Raises:
        BadInput: fewer than two systems, fewer than two units, or documents that are not known.
    """
    pairs = system_pairs(len(names), all_pairs)
    statistics: Dict[str, List[np.ndarray]] = {}
    for measure in measures:
        if measure.family not in statistics:
            statistics[measure.family] = [
                measure.rows(number, system) for number, system in enumerate(translations)
            ]
    found = []
    for unit in units:
        grouped = {
            family: [per_unit(rows, unit, translations[0]) for rows in systems]
            for family, systems in statistics.items()
        }
        for measure in measures:
            systems = grouped[measure.family]
            tests = paired_tests(systems, pairs, measure.scores, samples, seed)
            found += [
                (names[a], names[b], measure.name, unit, len(systems[0]), test)
                for (a, b), test in zip(pairs, tests, strict=True)
            ]
    corrected = holm_within(found, lambda row: row[2:4], lambda row: row[5].randomization_p)
    digits = {measure.name: measure.digits for measure in measures}
    return [TranslationComparison(*row, p, digits[row[2]]) for row, p in zip(found, corrected, strict=True)]


def per_unit(rows: np.ndarray, unit: str, translation: Translation) -> np.ndarray:
    """Statistics (N, K) of sentences summed by sampling unit: (U, K).

    Raises:
        BadInput: an unknown unit, documents that are not known, or fewer than two units.
    """
    if unit not in UNITS:
        raise BadInput(f"--unit {unit}: expected {' or '.join(UNITS)}")
    if unit == "document":
        if translation.document_lengths is None:
            raise BadInput("--unit document: expected --docids, which says where the documents are")
        ends = np.cumsum(translation.document_lengths)
        rows = np.add.reduceat(rows, np.concatenate(([0], ends[:-1])))
    if len(rows) < 2:
        raise BadInput(f"expected two or more {unit}s to draw from, found {len(rows)}")
    return rows


def length_ratio(translation: Translation) -> Optional[float]:
    """Words of the translation to words of the reference, both split at white space; None without any."""
    hypothesis, reference = (
        sum(len(line.split()) for line in lines)
        for lines in (translation.hypotheses, translation.references[0])
    )
    return hypothesis / reference if reference else None


def comparison_table(comparisons: Sequence[TranslationComparison]) -> str:
    """An aligned table, a row per comparison."""
    head = ["systems", "metric", "unit", "n", "a", "b", "b - a", "95 % interval", "b wins %"]
    rows = [[*head, "bootstrap p", "randomization p", "Holm", ""]]
    for comparison in comparisons:
        test, digits = comparison.result, comparison.digits
        rows.append(
            [
                f"{comparison.b} - {comparison.a}",
                comparison.metric,
                comparison.unit,
                str(comparison.units),
                f"{test.score_a:.{digits}f}",
                f"{test.score_b:.{digits}f}",
                f"{test.difference:+.{digits}f}",
                f"{test.low:+.{digits}f} .. {test.high:+.{digits}f}",
                f"{100 * test.wins:.1f}",
                *(f"{p:.4f}" for p in (test.bootstrap_p, test.randomization_p, comparison.p_holm)),
                stars(comparison.p_holm),
            ]
        )
    return aligned_table(rows)
