"""All that the page shows, in its order."""

from typing import List, Optional, Sequence

from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.made_by import versions
from ctxmt_fairseq.report import analyses, differences, results
from ctxmt_fairseq.report.blocks import Cell, Lines, Section, Table
from ctxmt_fairseq.report.runs import Found, Run


def sections(
    runs: Sequence[Run],
    shared: Found,
    text: Optional[differences.Text],
    sets: Sequence[ContrastiveSet],
    examples: int,
) -> List[Section]:
    """The parts of the page; those without content are left out.

    Args:
        text: what was translated, to show sentences in which translations differ.
        sets: contrastive sets, to show examples in which choices differ.
        examples: how many of each are shown.

    Raises:
        BadInput: files that do not belong together.
    """
    return [
        *results.scores_section(runs, shared),
        *results.contrast_section(runs),
        *results.comparison_section(runs, shared),
        *analyses.probe_section(runs),
        *analyses.curves_section(runs, shared),
        *analyses.lengths_section(runs, shared),
        *analyses.attention_section(runs, shared),
        *analyses.pictures_section(runs, shared),
        *differences.choices_section(runs, sets, examples),
        *(differences.translations_section(runs, text, examples) if text else ()),
        origin_section(runs, shared),
    ]


def origin_section(runs: Sequence[Run], shared: Found) -> Section:
    """Commands, versions and signatures."""
    founds = [*((run.name, run.found) for run in runs), ("comparisons", shared)]
    blocks: List[object] = [Lines(list(found.commands), name) for name, found in founds if found.commands]
    columns = {"this page": dict(versions())}
    for name, found in founds:
        for number, made_with in enumerate(found.versions, 1):
            columns[name if len(found.versions) == 1 else f"{name}, {number}"] = dict(made_with)
    packages = dict.fromkeys(package for column in columns.values() for package in column)
    rows = [
        [Cell(package), *(Cell(column.get(package, "-")) for column in columns.values())]
        for package in packages
    ]
    blocks.append(Table(["version of", *columns], rows))
    signatures = dict.fromkeys(
        f"{score['name']} ({score['level']}): {score['signature']}"
        for run in runs
        for report in run.found.scores.values()
        for score in report["scores"]
    )
    for _, found in founds:
        for _, content in found.of_kind("comparison of translations"):
            signatures.update(
                dict.fromkeys(f"{name}: {text}" for name, text in content["signatures"].items())
            )
    if signatures:
        blocks.append(Lines(list(signatures), "signatures"))
    left_out = [str(path) for _, found in founds for path in found.left_out]
    if left_out:
        blocks.append(Lines(left_out, "files that are not shown"))
    return Section("Commands and versions", blocks)
