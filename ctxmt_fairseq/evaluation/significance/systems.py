"""Compares systems by any score that is a function of sums over units, such as sentences or documents."""

from dataclasses import asdict, dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import records_table
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance.measures import Measure
from ctxmt_fairseq.evaluation.significance.p_values import holm, stars, system_pairs
from ctxmt_fairseq.evaluation.significance.resampling import PairedTest, Scorer, paired_tests
from ctxmt_fairseq.evaluation.significance.seeds import OverSeeds, over_seeds, pseudovalues, runs_of
from ctxmt_fairseq.text.languages import words_of

UNITS = ("document", "sentence")

_HEAD = {
    "systems": "{b} - {a}", "metric": "{metric}", "unit": "{unit}", "n": "{units}",
    "a": "{score_a:.{digits}f}", "b": "{score_b:.{digits}f}", "b - a": "{difference:+.{digits}f}",
    "95 % interval": "{low:+.{digits}f} .. {high:+.{digits}f}",
}  # fmt: skip
_END = {"Holm": "{p_holm:.4f}", "": "{stars}"}
COLUMNS = {
    **_HEAD,
    "b wins %": "{percent:.1f}",
    "bootstrap p": "{bootstrap_p:.4f}",
    "randomization p": "{randomization_p:.4f}",
    **_END,
}
SEED_COLUMNS = {**_HEAD, "seeds": "{seeds[0]}, {seeds[1]}", "p": "{p:.4f}", **_END}


@dataclass(frozen=True)
class Comparison:
    """Two systems compared by one metric with so many sampling units; differences are ``b`` minus ``a``.

    Attributes:
        result: of two trained models, or of two systems with several runs.
        p_holm: p of approximate randomization or over seeds, corrected over the systems that are compared by
            this metric and unit.
    """

    a: str
    b: str
    metric: str
    unit: str
    units: int
    result: Union[PairedTest, OverSeeds]
    p_holm: float
    digits: int = 2

    def as_dict(self) -> Dict[str, Any]:
        record = asdict(self)
        del record["result"], record["digits"]
        difference = self.result.difference
        return {**record, **self.result._asdict(), "difference": difference, "stars": stars(self.p_holm)}


class Tested(NamedTuple):
    """A measure with a unit, by which systems are compared: (U, K) for each run, a row for each unit, and
    what turns sums of rows into scores."""

    metric: str
    unit: str
    rows: Sequence[np.ndarray]
    scores: Scorer
    digits: int = 2


def compare_systems(
    names: Sequence[str], tested: Sequence[Tested], samples: int, seed: int, all_pairs: bool = False
) -> List[Comparison]:
    """Both paired tests of trained models for each measure, with Holm's correction over those compared. Where
    a name stands several times, its runs are seeds of one system, compared ``over_seeds``."""
    found = []
    runs = runs_of(names)
    systems = list(runs)
    pairs = system_pairs(len(systems), all_pairs)
    for metric, unit, rows, scores, digits in tested:
        tests: Sequence[Union[PairedTest, OverSeeds]]
        if len(systems) == len(names):
            tests = paired_tests(rows, pairs, scores, samples, seed)
        else:
            each = [pseudovalues(run, scores) for run in rows]
            added = [np.stack([each[run] for run in places]) for places in runs.values()]
            tests = [over_seeds(added[a], added[b], unit) for a, b in pairs]
        corrected = holm([test.p for test in tests])
        found += [
            Comparison(systems[a], systems[b], metric, unit, len(rows[0]), test, p, digits)
            for (a, b), test, p in zip(pairs, tests, corrected, strict=True)
        ]
    return found


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """An aligned table with a row for each comparison."""
    rows, columns = [], COLUMNS
    for one in comparisons:
        if isinstance(one.result, PairedTest):
            extra: Dict[str, Any] = {"percent": 100 * one.result.wins, "seeds": (1, 1), "p": one.result.p}
        else:
            extra, columns = {}, SEED_COLUMNS
        rows.append({**one.as_dict(), **extra, "digits": one.digits})
    return records_table(rows, columns)


def compare_translations(
    names: Sequence[str],
    translations: Sequence[Translation],
    measures: Sequence[Measure],
    units: Sequence[str],
    samples: int = 10_000,
    seed: int = 1,
    all_pairs: bool = False,
) -> List[Comparison]:
    """Paired bootstrap and approximate randomization of systems on one text, with one reference. The score is
    always the corpus score over sentences. With documents as units, whole documents are drawn and swapped,
    because their sentences are not independent. Runs of one name are seeds of one system."""
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
