"""Compares translations of the same text: are BLEU and chrF of one system higher than another's?"""

from typing import List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.measures import Measure
from ctxmt_fairseq.evaluation.significance.systems import Comparison, Tested, compare_systems
from ctxmt_fairseq.text.languages import words_of

UNITS = ("document", "sentence")


def compare_translations(
    names: Sequence[str],
    translations: Sequence[Translation],
    measures: Sequence[Measure],
    units: Sequence[str],
    samples: int = 10_000,
    seed: int = 1,
    all_pairs: bool = False,
) -> List[Comparison]:
    """Paired bootstrap and approximate randomization of systems on one text, with one reference.

    The score is always the corpus score over sentences. With documents as units, whole documents are drawn
    and swapped, because their sentences are not independent. Runs of one name are seeds of one system."""
    statistics = {one.family: [one.rows(at, each) for at, each in enumerate(translations)]
                  for one in {one.family: one for one in measures}.values()}  # fmt: skip
    tested = []
    for unit in units:
        for measure in measures:
            rows = [per_unit(each, unit, translations[0]) for each in statistics[measure.family]]
            tested.append(Tested(measure.name, unit, rows, measure.scores, measure.digits))
    return compare_systems(names, tested, samples, seed, all_pairs)


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
    """The words of the translation divided by those of the reference; None if there are none."""
    texts = translation.hypotheses, translation.references[0]
    hypothesis, reference = (sum(len(words_of(line)) for line in lines) for lines in texts)
    return hypothesis / reference if reference else None
