"""All that the page shows, in its order."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.page import differences, result_blocks
from ctxmt_fairseq.analysis.page.blocks import Cell, Fold, Image, Lines, Section, Table, side_by_side
from ctxmt_fairseq.analysis.page.found import Found, Run, title_of, written_by_ctxmt
from ctxmt_fairseq.analysis.page.result_blocks import Owners, charts, owner_of
from ctxmt_fairseq.analysis.page.summary import summary
from ctxmt_fairseq.analysis.page.svg_curves import LARGEST
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.provenance import versions
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.evaluation.contrastive_sets.formats import DISC_NAMES, phenomenon_name
from ctxmt_fairseq.evaluation.differing_lines import LinedText
from ctxmt_fairseq.evaluation.runs.results_file import how_scored
from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast

STARS = "* p < .05, ** p < .01, after Holm's correction, against {first}, of these trained models"


def sections(
    runs: Sequence[Run],
    shared: Found,
    text: Optional[LinedText],
    sets: Sequence[ContrastiveSet],
    examples: int,
) -> List[Section]:
    """The sections of the page; those without content are left out. With the text that was translated, and
    with contrastive sets, they show some ``examples`` of each where translations and choices differ."""
    owners: Owners = {
        path.resolve(): (run.name, name)
        for run in runs
        for files in (run.found.translations, run.found.examples)
        for name, path in files.items()
    }
    named = [*((run.name, run.found) for run in runs), ("", shared)]

    def each(kind: str, make: Callable[..., Any]) -> List[Any]:
        """The blocks for all results of a kind."""
        blocks: List[Any] = []
        for run, found in named:
            for path, content in found.of_kind(kind):
                with written_by_ctxmt(path):
                    made = make(f"{run}, {path.stem}" if run else path.stem, content, owners)
                    blocks += made if isinstance(made, list) else [made]
        return blocks

    first = STARS.format(first=runs[0].name) if runs else ""
    pictures = [
        Image(f"{run}: {picture.caption}" if run else picture.caption, picture.data)
        for run, found in named
        for picture in found.pictures
    ]
    stars = dict(reversed(each("comparison of translations", _stars(runs))))
    scored, decided = translations(runs, stars), contrastive_sets(runs)
    parts = [
        summary(runs, scored, decided, stars),
        Section("Translations", list(scored.values()),
                "Corpus scores of each translation, on sentences unless it says otherwise; TER is better if "
                "it is lower. Own context: the document's, as in training; on the target side the model's "
                f"own translations. {first}"),
        Section("Contrastive sets",
                [Fold(table.caption, [replace(table, caption="")]) for table in decided.values()],
                "Accuracy in %: how often the right translation is the more probable one. Sum or mean: of "
                "the tokens' log-probabilities; current or window: of the current sentence, or its context, "
                "too. Distance: how many sentences before is what decides. Disc.: accuracy on examples which "
                "another sentence decides; Disc_avg: the mean over distances (Lupo et al. 2022). McNemar: "
                f"{first}"),
        Section("Significance", [*each("comparison of translations", result_blocks.translation_tests),
                                 *each("comparison of contrast", result_blocks.contrast_tests)],
                "b - a; stars at .05 and .01 of p after Holm's correction; where numbers of seeds stand, of "
                "systems, otherwise of two trained models"),
        Section("Probes",
                [*charts("", each("probe", result_blocks.probe_sizes), "sentences of context"),
                 *each("probe", result_blocks.probe)],
                "Translations and scores with other contexts than the document's own; CXMI is what the "
                "context adds to the probability of the references, in bits per word (in nats per sentence: "
                "the definition of Fernandes et al. 2021; per token, averaged over sentences: what their "
                "program prints); stars: against the document's own, for this trained model"),
        Section("Curves", [*losses(runs), *each("chart", result_blocks.curves)],
                "Bands: the lowest and highest of several runs, or an interval"),
        Section("Length of the sentence", each("lengths", result_blocks.lengths),
                "Bands: 95 % of bootstrap samples"),
        Section("Attention", each("attention share", result_blocks.attention),
                "Share: of the attention of the current sentence's tokens, what goes to the current "
                "sentence; entropy in nats; stars: against the first model"),
        Section("Pictures", pictures),
        *differences.choices(runs, sets, examples),
        *(differences.translations(runs, text, examples) if text else ()),
        Section("Commands and versions", origin(named)),
    ]  # fmt: skip
    return [part for part in parts if part.blocks]


def _stars(runs: Sequence[Run]) -> Callable[..., List[Any]]:
    """Finds the stars in comparisons with the first run: ((run, translation, metric), stars)."""

    def stars(_: str, content: Any, owners: Owners) -> List[Any]:
        found = []
        for row in content["comparisons"]:
            a, b = (owner_of(row[side], owners, content) for side in ("a", "b"))
            if a and b and a[0] == runs[0].name and a[1] == b[1]:
                found.append(((*b, row["metric"]), row["stars"]))
        return found

    return stars


def translations(runs: Sequence[Run], known: Mapping[Any, str]) -> Dict[str, Table]:
    """A table for each translation, with the systems side by side; ``known``: stars."""
    tables = {}
    for name in dict.fromkeys(name for run in runs for name in run.found.scores):
        columns: Dict[str, Dict[str, Cell]] = {run.name: {} for run in runs}
        sentences, texts, hows = dict[int, Path](), dict[Any, Path](), dict[str, str]()
        for run in runs:
            if name in run.found.penalties:
                columns[run.name]["length penalty n"] = Cell(f"{run.found.penalties[name]:g}")
            path, report = run.found.scores.get(name, (run.folder, {"sentences": 0, "scores": []}))
            with written_by_ctxmt(path):
                sentences.setdefault(report["sentences"], path)
                texts.setdefault(report.get("content"), path)
                for score in report["scores"]:
                    alone = score["level"] == "sentence"
                    text = f"{score['score']:.{min(9, score.get('digits', 2))}f}"
                    if score.get("confidence") is not None:
                        text += f" ± {score['confidence']:.2f}"
                    mark = known.get((run.name, name, score["name"].lower()), "") if alone else ""
                    row = score["name"] if alone else f"{score['name']}, {score['level']}"
                    how = how_scored(score)
                    row = row if hows.setdefault(row, how) == how else f"{row} ({how})"
                    columns[run.name][row] = Cell(text, mark)
        counts = [count for count in sentences if count]  # 0: a run without this translation
        if len(counts) > 1:
            wanted = f"expected {title_of(name)} of {counts[0]} sentences, as in the other runs"
            raise BadInput(f"{wanted}, found {counts[1]}", sentences[counts[1]])
        _check_same(title_of(name), texts)
        tables[name] = side_by_side(columns, f"{title_of(name)}: {', '.join(map(str, counts))} sentences")
    return tables


def contrastive_sets(runs: Sequence[Run]) -> Dict[str, Table]:
    """A table for each contrastive set and convention: accuracies by phenomenon and distance."""
    tables = {}
    names = grouped(
        (_decided(*found, name), run) for run in runs for name, found in run.found.contrasts.items()
    )
    for (name, convention), own in names.items():
        files = [(run.name, str(run.found.examples[name])) for run in own if name in run.found.examples]
        tests = compare_contrast(files) if len(files) > 1 and files[0][0] == runs[0].name else []
        stars = {(row.b, row.group): row.as_dict()["stars"] for row in tests}
        columns: Dict[str, Dict[str, Any]] = {"examples": {}, **{run.name: {} for run in runs}}
        ties, texts = 0, dict[Any, Path]()
        for run in own:
            path, report = run.found.contrasts[name]
            with written_by_ctxmt(path):
                ties += report["ties"]
                texts.setdefault(report.get("content"), path)
                for group, key, accuracy, count in _tallies(report):
                    columns["examples"].setdefault(group, count)
                    share = min(100.0, max(0.0, accuracy))
                    columns[run.name][group] = Cell(f"{accuracy:.1f}", stars.get((run.name, key), ""), share)
        _check_same(name, texts)
        shown = name if name not in tables else f"{name} by {convention}"
        caption = f"{name}; convention {convention}; {ties} ties, which count as wrong"
        tables[shown] = side_by_side(columns, caption)
    return tables


def _decided(path: Path, report: Any, name: str) -> Tuple[str, str]:
    """A set's name, and by which convention a choice is right."""
    with written_by_ctxmt(path):
        return name, str(report["convention"])


def _check_same(name: str, texts: Mapping[Any, Path]) -> None:
    """Refuse results on several texts (fingerprint -> a result's file; None: not known)."""
    others = [path for text, path in texts.items() if text is not None][1:]
    if others:
        raise BadInput(f"expected {name} of the text of the other runs, found another", others[0])


def _tallies(report: Dict[str, Any]) -> Iterator[Tuple[str, str, float, str]]:
    """For each row its name, its group in McNemar's test, accuracy and number of examples."""
    phenomena = {phenomenon_name(name): tally for name, tally in report["phenomena"].items()}
    groups = {"all": report, **(phenomena if len(phenomena) > 1 else {}),
              **{f"distance {name}": tally for name, tally in report["distances"].items()}}  # fmt: skip
    for name, tally in groups.items():
        yield name, name, tally["accuracy"], str(tally["examples"])
    for key, name in DISC_NAMES.items():
        if report.get(key) is not None:
            yield name, key, report[key], ""


def losses(runs: Sequence[Run]) -> List[Any]:
    """Charts of the trainings' losses: one for those of each unit."""
    kinds = {run.name: run.found.log.loss_kind for run in runs if run.found.log}
    several = any(kind != other for kind in kinds.values() for other in kinds.values())
    title = {
        name: f"loss of validations{', of its own unit: ' * several}"
        + ", ".join(other for other in kinds if several and kinds[other] == kind)
        for name, kind in kinds.items()
    }
    points = [
        Point(title[run.name], f"{run.name}, {subset}", record.updates, record.values["loss"])
        for run in runs
        for subset, records in (run.found.log.validations if run.found.log else {}).items()
        for record in records
        if abs(record.values.get("loss", inf)) < LARGEST
    ]
    return charts("", points, "updates")


def origin(named: Sequence[Tuple[str, Found]]) -> List[Any]:
    """The commands, versions and signatures behind the results."""
    blocks: List[Any] = [
        Lines(list(found.commands), name or "comparisons") for name, found in named if found.commands
    ]
    columns = {"this page": dict(versions())}
    signatures: List[str] = []
    for name, found in named:
        for number, made_with in enumerate(found.versions, 1):
            column = name or "comparisons"
            columns[column if len(found.versions) == 1 else f"{column}, {number}"] = dict(made_with)
        for path, report in found.scores.values():
            with written_by_ctxmt(path):
                signatures += [
                    f"{one['name']} ({one['level']}): {one['signature']}" for one in report["scores"]
                ]
        for path, content in found.of_kind("comparison of translations"):
            with written_by_ctxmt(path):
                signatures += [f"{metric}: {text}" for metric, text in content["signatures"].items()]
    blocks.append(side_by_side(columns, corner="version of"))
    left_out = [str(path) for _, found in named for path in found.left_out]
    lines = [(list(dict.fromkeys(signatures)), "signatures"), (left_out, "files that are not shown")]
    return [*blocks, *(Lines(text, title) for text, title in lines if text)]
