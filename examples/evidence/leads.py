"""What one run has more than another, and one system more than another over its seeds."""

import functools
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.evaluation.significance.p_values import holm, mcnemar, stars
from ctxmt_fairseq.evaluation.significance.resampling import randomization_p
from ctxmt_fairseq.evaluation.significance.seeds import OverSeeds, over_seeds, pseudovalues
from evidence.systems import (
    BEST,
    FINDINGS,
    FOUND_BY_HALVES,
    RESTARTED,
    STAGES,
    SYSTEMS,
    Run,
    control_of,
)

Results = Dict[Run, Dict[str, Any]]
Added = Tuple[np.ndarray, np.ndarray]  # what each example adds to the scores of the first and the second run
Difference = Tuple[float, float, Optional[Added]]  # the value and its p, uncorrected
# Rows that differ in one thing, which the second has; and systems, the second of which a paper calls better.
PAIRS = (
    ("s2to2", "s2to2+CD"),
    ("s2to2+CD", "s2to2+shift+CD"),
    ("s2to2", "s2to2+restart"),
    ("s2to2+CD", "s2to2+restart+CD"),
    ("s2to2+restart", "s2to2+restart+CD"),
    *((row, f"{row}{end}") for row in RESTARTED for end in ("+sizes", "+starts")),
    ("s2to2+restart+CD", "s2to2+restart+CD+margin"),
    ("s4to4", "s4to4+CD"),
    ("s4to4+CD", "s4to4+shift+CD"),
    ("s4to4+CD", "s4to4+CD+sizes"),
    *(("gated", f"gated+{name}") for name in ("sizes", "coword")),
    *((row, f"{row}+{name}") for row in BEST for name in FOUND_BY_HALVES),
    *(("gated", f"gated+{name}") for name in FINDINGS),
    *(("gated+everything", f"gated+{name}") for name in ("selection", "everything+upsampling")),
    *((f"gated+{name}", f"gated+halves+{name}") for name in FINDINGS if f"halves+{name}" in FOUND_BY_HALVES),
    ("caching", "grouping"),
    ("caching", "selecting"),
    ("caching", "averaging"),
    ("CUE", "MTCue"),
    ("s2to2", "s4to4"),
    ("s2to2+CD", "s4to4+CD"),
    ("s2to2", "gated"),
    ("2-to-1", "gated"),
    ("s2to2", "caching"),
    ("dual-encoder", "caching"),
    ("gated", "s2to2+shift+CD"),
    ("dual-encoder", "s2to2+shift+CD"),
    ("context-encoder", "s2to2+shift+CD"),
)


@dataclass(frozen=True)
class Lead:
    """A difference of two runs, which is about these two trained models.

    Attributes:
        p: corrected.
        added: (N,) each, where it is known.
    """

    value: float
    p: float
    added: Optional[Added] = None

    def __str__(self) -> str:
        return f"{self.value:+.2f}{stars(self.p)}"


def control(results: Results, row: str, seed: int) -> Optional[Dict[str, Any]]:
    """The result of a run's control: of the same seed, and trained in the same precision if there is one."""
    other = control_of(row)
    exact = STAGES[SYSTEMS[row].stage].second and "--amp" not in results[row, seed]["train"]
    return (exact and results.get((f"float32-{other}", seed))) or results.get((other, seed))


def over_control(results: Results) -> Dict[Run, Lead]:
    """Accuracy of every run minus that of the control's same seed."""
    pairs = {}
    for run, one, other in _beside_control(results):
        if "pronouns" in one and not run[0].endswith("control"):
            pairs[run] = right(one), right(other)
    return _leads(pairs)


def between_rows(results: Results) -> Dict[Tuple[str, str, int], Lead]:
    """Accuracy of the second of ``PAIRS`` minus that of the first, in every seed that both have."""
    return _leads({pair: (right(ours), right(theirs)) for pair, ours, theirs in _in_pairs(results)})


def over_random(results: Results) -> Dict[Run, Lead]:
    """Accuracy with a run's own context minus that with a random one."""
    runs = {run: one for run, one in results.items() if run[0] in SYSTEMS}
    pairs = {
        run: (right(one), right(one, "random"))
        for run, one in runs.items()
        if "random" in one.get("pronouns", {})
    }
    return _leads(pairs)


def random_over_control(results: Results) -> Dict[Run, Lead]:
    """Accuracy with a random context minus that of the control's same seed."""
    pairs = {}
    for run, one, other in _beside_control(results):
        if "random" in one.get("pronouns", {}):
            pairs[run] = right(one, "random"), right(other)
    return _leads(pairs)


def bleu_over_control(results: Results) -> Dict[Run, Lead]:
    """BLEU of every context system minus that of the control's same seed."""
    found = {}
    for run, one, other in _beside_control(results):
        if SYSTEMS[run[0]].reads_context:
            found[run] = _bleu(one, other) or _bleu_then(one, other)
    return _corrected(found)


def bleu_between_rows(results: Results) -> Dict[Tuple[str, str, int], Lead]:
    """BLEU of the second of ``PAIRS`` minus that of the first, in every seed that both have."""
    return _corrected({pair: _bleu(ours, theirs) for pair, ours, theirs in _in_pairs(results)})


def _beside_control(results: Results) -> Iterator[Tuple[Run, Dict[str, Any], Dict[str, Any]]]:
    """Every run that has a control, its result and that of the control."""
    for run, one in results.items():
        other = control(results, *run) if run[0] in SYSTEMS else None
        if other:
            yield run, one, other


def _in_pairs(results: Results) -> Iterator[Tuple[Tuple[str, str, int], Dict[str, Any], Dict[str, Any]]]:
    """Of ``PAIRS`` both names and a seed, and the results of the second and the first."""
    for first, second in PAIRS:
        for row, seed in results:
            if row == second and (first, seed) in results:
                yield (first, second, seed), results[second, seed], results[first, seed]


def bleu_of_post_editing(results: Results) -> Dict[Run, Lead]:
    """BLEU with the reference as target context minus that with the model's own translations."""
    found = {run: one for run, one in results.items() if "post_editing" in one}
    return _corrected({run: _bleu(one["post_editing"], one) for run, one in found.items()})


def _bleu(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Optional[Difference]:
    """Of two results, where both know what each document adds."""
    if "statistics" not in ours or "statistics" not in theirs:
        return None
    return _randomized(*(tuple(one["statistics"]["bleu"]) for one in (theirs, ours)))


def _bleu_then(one: Mapping[str, Any], control: Mapping[str, Any]) -> Optional[Difference]:
    """In a result older than the statistics, unless the control has been trained anew since."""
    for each in one.get("compared", {}).get("comparisons", ()):
        if each["metric"] == "bleu" and each["score_a"] == score(control, "BLEU"):
            return each["score_b"] - each["score_a"], each["randomization_p"], None
    return None


@functools.cache
def _randomized(first: Tuple[str, ...], second: Tuple[str, ...]) -> Difference:
    """As ``ctxmt compare translations`` does: 10,000 shuffles of documents, seed 1."""
    pair = [np.array([row.split() for row in rows], dtype=np.float64) for rows in (first, second)]
    scorer = measure("bleu").scores
    p = randomization_p([(pair[0], pair[1])], scorer, samples=10_000, seed=1)[0]
    theirs, ours = scorer(np.stack([rows.sum(0) for rows in pair]))
    return float(ours - theirs), float(p), (pseudovalues(pair[0], scorer), pseudovalues(pair[1], scorer))


def _corrected(found: Mapping[Any, Optional[Difference]]) -> Dict[Any, Lead]:
    """Holm's correction over all that there are."""
    known = {name: each for name, each in found.items() if each}
    corrected = holm([p for _, p, _ in known.values()])
    return {name: Lead(known[name][0], p, known[name][2]) for name, p in zip(known, corrected, strict=True)}


def _leads(pairs: Mapping[Any, Tuple[np.ndarray, np.ndarray]]) -> Dict[Any, Lead]:
    """Of decisions on the same examples, (N,) bool, the first minus the second: McNemar's test, corrected
    over all pairs (Holm)."""
    found: Dict[Any, Optional[Difference]] = {}
    for name, (ours, theirs) in pairs.items():
        p = mcnemar(int((theirs & ~ours).sum()), int((ours & ~theirs).sum())).p
        found[name] = 100 * float(ours.mean() - theirs.mean()), p, (100.0 * theirs, 100.0 * ours)
    return _corrected(found)


def cells(rows: Sequence[Sequence[Optional[Lead]]]) -> List[Tuple[str, str, str]]:
    """For each system its leads by seed; the mean with its 95 % interval over seeds and examples, with stars
    that are corrected over all rows (Holm); and its p, uncorrected. A single seed has the first alone."""
    tests = [_over_seeds([lead.added for lead in row if lead and lead.added]) for row in rows]
    return [(by_seed(row), *cell) for row, cell in zip(rows, _seed_cells(tests), strict=True)]


def alone(rows: Sequence[Sequence[Tuple[float, float]]]) -> List[Tuple[str, str]]:
    """The same of pairs of scores, whose examples are not known: over seeds alone."""
    return _seed_cells([_over_seeds([(np.array([a]), np.array([b])) for a, b in row]) for row in rows])


def _over_seeds(added: Sequence[Added]) -> Optional[OverSeeds]:
    """None: fewer than two seeds."""
    if len(added) < 2:
        return None
    return over_seeds(*(np.stack(values) for values in zip(*added, strict=True)))


def _seed_cells(tests: Sequence[Optional[OverSeeds]]) -> List[Tuple[str, str]]:
    corrected = iter(holm([test.p for test in tests if test]))
    return [
        (
            f"{test.mean:+.2f}{stars(next(corrected))} ({test.low:+.2f} .. {test.high:+.2f})",
            f"{test.p:.4f}" if test.p >= 5e-5 else "< 0.0001",
        )
        if test
        else ("", "")
        for test in tests
    ]


def by_seed(found: Sequence[Optional[Lead]]) -> str:
    """With a dash for the seeds that cannot be compared; empty if none can."""
    return ", ".join("-" if lead is None else str(lead) for lead in found) if any(found) else ""


def right(result: Mapping[str, Any], context: str = "document") -> np.ndarray:
    """Whether each example of the contrastive set was right: bool (N,)."""
    return np.array(list(result["pronouns"][context]["decisions"])) == "1"


def score(one: Mapping[str, Any], name: str, level: str = "sentence") -> Optional[float]:
    """A corpus score of ``ctxmt score --json``."""
    scores = one["scores"]["scores"]
    return next((each["score"] for each in scores if (each["name"], each["level"]) == (name, level)), None)
