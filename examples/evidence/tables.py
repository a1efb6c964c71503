"""The tables of docs/evidence.md, from the results alone."""

import json
import statistics
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.evaluation.significance.correction import holm, stars
from ctxmt_fairseq.evaluation.significance.mcnemar import mcnemar
from evidence.systems import EVALUATED, SEARCH, SYSTEMS, Run, chosen

BEGIN, END = "<!-- tables: written by examples/evidence/run.sh -->", "<!-- end of tables -->"
CONTROL = "control"
CLASSES = ("il", "elle", "ils", "elles")
Results = Dict[Run, Dict[str, Any]]
Values = Callable[[Dict[str, Any]], Optional[float]]


def read(folder: Path) -> Results:
    """Every result of the folder, by row and seed."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.[0-9]*.json"))]
    return {(record["row"], record["seed"]): record for record in records}


def rewrite(page: Path, results: Results) -> None:
    """Put the tables between the page's two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{text(results)}\n{END}{after}", encoding="utf-8")


def text(results: Results) -> str:
    """All tables, and what is missing."""
    tables = (search_table, translation_table, pronoun_table, significance_table, context_table)
    parts = [table(results) for table in tables]
    missing = [f"`{row}.{seed}`" for row, seed in chosen(()) if (row, seed) not in results]
    parts.append("Missing: " + (", ".join(missing) or "nothing") + ".")
    return "\n\n".join(filter(None, parts))


def search_table(results: Results) -> str:
    """Candidates for the size of the first stage, by their validation loss."""
    rows = []
    for name in SEARCH:
        one = results.get((name, 1))
        if one and one["learning_curve"]:
            last, valid = one["learning_curve"][-1], one["corpus"]["valid"]
            sentence = last["nll"] * valid["tokens"]["fr"] / valid["sentences"]
            cells = f"{last['nll']:.3f}", f"{sentence:.2f}", f"{one['cpu_seconds'] / 60:.1f}"
            rows.append([name, str(last["updates"]), *cells])
    return _table(["search", "updates", "bits a subword", "bits a sentence", "CPU minutes"], rows)


def translation_table(results: Results) -> str:
    """Loss and scores of the held-out text."""
    head = ["system", "seeds", "validation loss", "BLEU", "chrF2", "document BLEU", "CPU minutes"]
    columns: List[Values] = [
        lambda one: one["learning_curve"][-1]["loss"] if one["learning_curve"] else None,
        lambda one: score(one, "BLEU", "sentence"),
        lambda one: score(one, "chrF2", "sentence"),
        lambda one: score(one, "BLEU", "document"),
        lambda one: one["cpu_seconds"] / 60,
    ]
    digits = (3, 2, 2, 2, 0)
    return _table(head, [_row(name, found, columns, digits) for name, found in _systems(results)])


def pronoun_table(results: Results) -> str:
    """Accuracy of the contrastive set in per cent, all and by the correct pronoun."""
    head = ["accuracy in %", "seeds", "all", *CLASSES, "random context"]
    columns: List[Values] = [lambda one: one["pronouns"]["document"]["accuracy"]]
    columns += [
        lambda one, name=name: one["pronouns"]["document"]["phenomena"].get(name, {}).get("accuracy")
        for name in CLASSES
    ]
    columns.append(lambda one: one["pronouns"].get("random", {}).get("accuracy"))
    rows = [_row(name, found, columns, (2,) * len(columns)) for name, found in _systems(results)]
    return _table(head, rows)


def context_table(results: Results) -> str:
    """What other contexts change in the test text, translated greedily."""
    contexts = ("document", "random", "empty", "absent")
    head = ["greedy BLEU", "seeds", *contexts, "document - random", "CXMI (bits a word)"]

    def bleu(one: Dict[str, Any], name: str) -> Optional[float]:
        return next((each["bleu"] for each in one["probe"]["contexts"] if each["context"] == name), None)

    columns: List[Values] = [lambda one, name=name: bleu(one, name) for name in contexts]
    columns.append(lambda one: bleu(one, "document") - bleu(one, "random"))  # type: ignore[operator]
    columns.append(lambda one: one["probe"]["contexts"][0]["cxmi"])
    probed = [(name, [one for one in found if "probe" in one]) for name, found in _systems(results)]
    rows = [_row(name, found, columns, (2, 2, 2, 2, 2, 4)) for name, found in probed if found]
    return _table(head, rows)


def significance_table(results: Results) -> str:
    """Accuracy of each system minus that of the control.

    By seed: McNemar's test, corrected over all that stands here (Holm). The mean over the seeds that both
    have: paired permutation over examples.
    """
    systems = [run for run in results if run[0] in SYSTEMS and run[0] != CONTROL]
    pairs = [run for run in systems if (CONTROL, run[1]) in results]
    found = []
    for row, seed in pairs:
        ours, control = (right(results[name, seed]) for name in (row, CONTROL))
        only_ours, only_control = int((ours & ~control).sum()), int((control & ~ours).sum())
        found.append((row, seed, ours, control, mcnemar(only_control, only_ours).p))
    corrected = holm([each[-1] for each in found])
    rows = []
    for name in SYSTEMS:
        mine = [(each, p) for each, p in zip(found, corrected, strict=True) if each[0] == name]
        if not mine:
            continue
        difference = np.mean([ours.astype(float) - control for (_, _, ours, control, _), _ in mine], axis=0)
        seeds = ", ".join(f"{100 * (each[2].mean() - each[3].mean()):+.2f}{stars(p)}" for each, p in mine)
        rows.append([name, seeds, f"{100 * difference.mean():+.2f}", f"{permutation_p(difference):.4f}"])
    return _table(["accuracy minus control", "by seed", "mean", "p of the mean"], rows)


def right(result: Dict[str, Any]) -> np.ndarray:
    """Whether each example of the contrastive set was right: bool (N,)."""
    return np.array(list(result["pronouns"]["document"]["decisions"])) == "1"


def permutation_p(differences: np.ndarray, samples: int = 10_000, seed: int = 1) -> float:
    """Two-sided p of a mean of paired differences (N,): were there none, each sign would be as likely."""
    generator = np.random.default_rng(seed)
    signs = generator.choice((-1.0, 1.0), size=(samples, len(differences)))
    return float(((abs(signs @ differences) >= abs(differences.sum()) - 1e-9).sum() + 1) / (samples + 1))


def score(result: Dict[str, Any], name: str, level: str) -> Optional[float]:
    """A corpus score of ``ctxmt score --json``."""
    scores = result["scores"]["scores"]
    return next((each["score"] for each in scores if (each["name"], each["level"]) == (name, level)), None)


def _systems(results: Results) -> List[Any]:
    """Each row that has results, with those of its seeds."""
    found = [(name, [one for (row, _), one in sorted(results.items()) if row == name]) for name in EVALUATED]
    return [(name, ones) for name, ones in found if ones]


def _row(
    name: str, found: Sequence[Dict[str, Any]], columns: Sequence[Values], digits: Sequence[int]
) -> List[str]:
    cells = [
        _mean([value for value in map(column, found) if value is not None], places)
        for column, places in zip(columns, digits, strict=True)
    ]
    return [name, ", ".join(str(one["seed"]) for one in found), *cells]


def _mean(values: Sequence[float], digits: int) -> str:
    """Mean and, of several, the standard deviation."""
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown; empty without rows."""
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
