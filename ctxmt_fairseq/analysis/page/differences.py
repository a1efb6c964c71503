"""Sections of the page: sentences and contrastive examples in which systems differ."""

from collections import Counter
from dataclasses import replace
from typing import Any, Iterator, List, Optional, Sequence

from ctxmt_fairseq.analysis.page.blocks import Example, Section, folded
from ctxmt_fairseq.analysis.page.found import Run, title_of
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_report import content_of
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.evaluation.contrastive_sets.formats import distance_name
from ctxmt_fairseq.evaluation.differing_lines import DifferingLine, LinedText, differing_lines
from ctxmt_fairseq.evaluation.metrics import REALIGN
from ctxmt_fairseq.evaluation.significance.contrast import read_outcomes
from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.text_lines import PathLike, check_count, read_sentences

SHOWN = 3  # examples that are not folded
CONTEXT = 2  # how many previous sentences are shown


def read_lines(path: PathLike, expected: int) -> List[str]:
    """Read a file that must have as many lines as the source."""
    lines = read_sentences(path)
    check_count(lines, expected, "the source", path, REALIGN)
    return lines


def read_text(source: PathLike, reference: PathLike, docids: Optional[PathLike]) -> LinedText:
    """Read the text that was translated; translations are added later."""
    sources = read_sentences(source)
    documents = None if docids is None else Documents.read(docids, len(sources))
    return LinedText(sources, read_lines(reference, len(sources)), {}, documents)


def not_compared(runs: Sequence[Run], text: Optional[LinedText], sets: Sequence[ContrastiveSet]) -> List[str]:
    """Say of which options the page shows nothing, because no two runs have what could differ."""
    translated = Counter(name for run in runs for name in run.found.translations)
    decided = Counter(name for run in runs for name in run.found.examples)
    alone = [f"--sets: no {each.name}.examples.jsonl" for each in sets if decided[each.name] < 2]
    if text and max(translated.values(), default=0) < 2:
        alone.insert(0, "--source: no NAME.hyp")
    return [f"{what} is there in two runs" for what in alone]


def translations(runs: Sequence[Run], text: LinedText, count: int) -> Iterator[Section]:
    """The sentences whose best and worst translation are farthest apart in chrF2."""
    for name in dict.fromkeys(name for run in runs for name in run.found.translations):
        files = {run.name: run.found.translations[name] for run in runs if name in run.found.translations}
        systems = {run: read_lines(path, len(text.sources)) for run, path in files.items()}
        found = differing_lines(replace(text, hypotheses=systems), measure("chrf2"), CONTEXT)
        found = [one for one in found if one.reference]
        found.sort(key=lambda one: (min(one.scores.values()) - max(one.scores.values()), one.line))
        note = (
            f"{len(found)} of {len(text.sources)} sentences are translated differently; here those in which "
            "the best and the worst are farthest apart"
        )
        examples = folded(list(map(_example, found[:count])), SHOWN, "sentences")
        yield Section(f"Where translations differ: {title_of(name)}", examples, note)


def _example(line: DifferingLine) -> Example:
    rows = [(run, text, f"chrF {line.scores[run]:.0f}", ()) for run, text in line.hypotheses.items()]
    rows = [("reference", line.reference, "", ()), *rows]
    return Example(f"line {line.line}", line.context, line.source, rows)


def choices(runs: Sequence[Run], sets: Sequence[ContrastiveSet], count: int) -> Iterator[Section]:
    """The contrastive examples that some systems get right and others wrong, from each phenomenon in turn."""
    blocks: List[Any] = []
    notes = []
    for suite in sets:
        files = {run.name: run.found.examples[suite.name] for run in runs if suite.name in run.found.examples}
        outcomes = {name: read_outcomes(path) for name, path in files.items()}
        found: List[Any] = []
        turns: Counter = Counter()
        for example in suite.examples:
            each = {name: one.get((suite.name, example.id)) for name, one in outcomes.items()}
            content = content_of(example)
            for name, one in each.items():
                if one and one.content and one.content != content:
                    what = f"{example.id} of {suite.name} is another example than in --sets"
                    raise BadInput(what, files[name])
            right = [name for name, one in each.items() if one and one.correct]
            wrong = [name for name, one in each.items() if one and not one.correct]
            if right and wrong and None not in each.values():
                turns[example.phenomenon] += 1
                rows = [("right", candidate.current, f"chosen by {', '.join(right)}", candidate.before)
                        if number == example.correct else ("wrong", candidate.current, "", candidate.before)
                        for number, candidate in enumerate(example.candidates)]  # fmt: skip
                title = f"{suite.name}: {example.phenomenon}, distance {distance_name(example.distance)}"
                metadata = [f"{field}: {value}" for field, value in example.metadata.items()]
                context = [*example.source_before, *metadata]
                shown = Example(f"{title}; not by {', '.join(wrong)}", context, example.source, rows)
                found.append((turns[example.phenomenon], len(found), shown))
        if found:
            notes.append(f"{suite.name}: {len(found)} of {len(suite.examples)}")
        examples = [shown for _, _, shown in sorted(found, key=lambda row: row[:2])[:count]]
        blocks += folded(examples, 1 if len(sets) > 1 else SHOWN, suite.name)
    note = f"Examples that some systems alone have right ({', '.join(notes)}). A candidate comes after its "
    note += "target context (grey), which decides with the source what is right"
    yield Section("Where choices differ", blocks, note)
