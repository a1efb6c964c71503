"""Scores, contrastive accuracies and comparisons, as sections of the page."""

from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.evaluation.contrastive_report import DISC_NAMES
from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast
from ctxmt_fairseq.report.blocks import Cell, Section, Table
from ctxmt_fairseq.report.runs import Found, Owners, Run

STARS = "* p < .05, ** p < .01, after Holm's correction, against {first}"
METRICS = {"BLEU": "bleu", "chrF1": "chrf1", "chrF2": "chrf2", "chrF3": "chrf3"}  # score's name -> compare's


def scores_section(runs: Sequence[Run], shared: Found) -> Iterator[Section]:
    """Systems side by side, a table for each translation."""
    stars = _translation_stars(runs, shared)
    tables = []
    for translation in _names(run.found.scores for run in runs):
        rows: Dict[Tuple[str, str], Dict[str, Any]] = {}
        for run in runs:
            for score in run.found.scores.get(translation, {}).get("scores", ()):
                rows.setdefault((score["name"], score["level"]), {})[run.name] = score
        table = []
        penalties = [run.found.penalties.get(translation) for run in runs]
        if any(penalty is not None for penalty in penalties):
            table.append(
                [
                    Cell("length penalty n"),
                    *(Cell("-" if each is None else f"{each:g}") for each in penalties),
                ]
            )
        for (metric, level), scores in rows.items():
            cells = [
                Cell(_score(scores.get(run.name)), stars.get((run.name, translation, metric, level), ""))
                for run in runs
            ]
            table.append([Cell(metric if level == "sentence" else f"{metric}, {level}"), *cells])
        sentences = _distinct(run.found.scores.get(translation, {}).get("sentences") for run in runs)
        tables.append(
            Table(["", *(run.name for run in runs)], table, f"{translation}: {sentences} sentences")
        )
    if tables:
        first = [STARS.format(first=runs[0].name)] if stars else []
        note = "; ".join(["Corpus scores of each translation, on sentences unless it says otherwise", *first])
        yield Section("Translations", tables, note)


def _score(score: Optional[Dict[str, Any]]) -> str:
    if score is None:
        return "-"
    digits = score.get("digits")
    text = f"{score['score']:.{digits if digits in range(10) else 2}f}"
    confidence = score.get("confidence")
    return text if confidence is None else f"{text} ± {confidence:.2f}"


def _translation_stars(runs: Sequence[Run], shared: Found) -> Dict[Tuple[str, str, str, str], str]:
    """(run, translation, metric, level) -> stars, of comparisons with the first run's translation."""
    owners = Owners(runs)
    stars: Dict[Tuple[str, str, str, str], str] = {}
    for found in (*(run.found for run in runs), shared):
        for _, content in found.of_kind("comparison of translations"):
            for row in content["comparisons"]:
                a, b = (owners.of(row[side]) for side in ("a", "b"))
                if a and b and a[0] == runs[0].name and a[1] == b[1]:
                    metric = next((m for m, name in METRICS.items() if name == row["metric"]), "")
                    stars.setdefault((*b, metric, "sentence"), row["stars"])
    return stars


def contrast_section(runs: Sequence[Run]) -> Iterator[Section]:
    """Accuracies of every contrastive set, by phenomenon and distance."""
    tables, tested = [], False
    for name in _names(run.found.contrasts for run in runs):
        reports = {run.name: run.found.contrasts[name] for run in runs if name in run.found.contrasts}
        stars = _contrast_stars(runs, name)
        tested = tested or bool(stars)
        groups: Dict[str, Dict[str, Any]] = {}
        for system, report in reports.items():
            for group, tally in _tallies(report):
                groups.setdefault(group, {})[system] = tally
        rows = []
        for group, tallies in groups.items():
            key = "disc" if group == DISC_NAMES["disc"] else group
            examples = _distinct(
                tally["examples"] for tally in tallies.values() if tally["examples"] is not None
            )
            cells = [_accuracy(tallies.get(run.name), stars.get((run.name, key), "")) for run in runs]
            rows.append([Cell(group), Cell(examples), *cells])
        ties = sum(report["ties"] for report in reports.values())
        convention = _distinct(report["convention"] for report in reports.values())
        caption = f"{name}; convention {convention}; {ties} ties, which count as wrong"
        tables.append(Table(["", "examples", *(run.name for run in runs)], rows, caption))
    if tables:
        note = "Accuracy in %: how often the right translation is the more probable one"
        yield Section(
            "Contrastive sets",
            tables,
            note + ("; McNemar: " + STARS.format(first=runs[0].name) if tested else ""),
        )


def _tallies(report: Dict[str, Any]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    yield "all", report
    if len(report["phenomena"]) > 1:
        yield from report["phenomena"].items()
    for name, tally in report["distances"].items():
        yield f"distance {name}", tally
    for key, name in DISC_NAMES.items():
        if report.get(key) is not None:
            yield name, {"accuracy": report[key], "examples": None}


def _accuracy(tally: Optional[Dict[str, Any]], stars: str) -> Cell:
    if tally is None:
        return Cell("-")
    return Cell(f"{tally['accuracy']:.1f}", stars, min(100.0, max(0.0, tally["accuracy"])))


def _contrast_stars(runs: Sequence[Run], name: str) -> Dict[Tuple[str, str], str]:
    """(run, group) -> stars of McNemar's test against the first run, where the examples are there.

    Raises:
        BadInput: files of examples that do not belong together.
    """
    having = [run for run in runs if name in run.found.examples]
    if len(having) < 2 or having[0] is not runs[0]:
        return {}
    by_path = {str(run.found.examples[name]): run.name for run in having}
    comparisons = compare_contrast(list(by_path))
    return {(by_path[row.b], row.group): row.as_dict()["stars"] for row in comparisons}


def comparison_section(runs: Sequence[Run], shared: Found) -> Iterator[Section]:
    """The tests of ``ctxmt compare``, in full."""
    tables, owners = [], Owners(runs)
    for found in (*(run.found for run in runs), shared):
        for path, content in found.of_kind("comparison of translations"):
            tables.append(_translations_table(path, content, owners))
        for path, content in found.of_kind("comparison of contrast"):
            tables.append(_contrast_table(path, content, owners))
    if tables:
        note = "b - a; stars at .05 and .01 of p after Holm's correction"
        yield Section("Significance", tables, note)


def _translations_table(path: Path, content: Dict[str, Any], owners: Owners) -> Table:
    rows = [
        [
            Cell(_pair(row, owners)),
            Cell(row["metric"]),
            Cell(f"{row['units']} {row['unit']}s"),
            Cell(f"{row['difference']:+.2f}", row["stars"]),
            Cell(f"{row['low']:+.2f} .. {row['high']:+.2f}"),
            Cell(f"{row['p_holm']:.4f}"),
        ]
        for row in content["comparisons"]
    ]
    return Table(["systems", "metric", "resampled", "difference", "95 % interval", "p"], rows, path.name)


def _contrast_table(path: Path, content: Dict[str, Any], owners: Owners) -> Table:
    rows = [
        [
            Cell(f"{row['group']}: {_pair(row, owners)}"),
            Cell(str(row["examples"])),
            Cell(
                f"{100 * (row['correct_b'] - row['correct_a']) / max(1, row['examples']):+.1f}", row["stars"]
            ),
            Cell(str(row["only_a"])),
            Cell(str(row["only_b"])),
            Cell(f"{row['p_holm']:.4f}"),
        ]
        for row in content["comparisons"]
    ]
    return Table(["systems", "examples", "difference", "only a", "only b", "p"], rows, path.name)


def _pair(row: Dict[str, Any], owners: Owners) -> str:
    return f"{owners.title(row['b'])} - {owners.title(row['a'])}"


def _names(dictionaries: Any) -> List[str]:
    return list(dict.fromkeys(name for each in dictionaries for name in each))


def _distinct(values: Any) -> str:
    """Different values, as text; one where all are the same."""
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))
