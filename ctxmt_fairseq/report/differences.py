"""Sentences and contrastive examples in which systems differ, as sections of the page."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Sequence

from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.text_lines import PathLike, read_sentences
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.evaluation.contrastive_sets.formats import distance_name
from ctxmt_fairseq.evaluation.metrics import chrf
from ctxmt_fairseq.evaluation.significance.contrast import read_outcomes
from ctxmt_fairseq.report.blocks import Example, Section
from ctxmt_fairseq.report.found import Run

CONTEXT = 2  # previous sentences that are shown


@dataclass(frozen=True)
class Text:
    """What was translated: N sentences, N references, and which sentences precede each in its document."""

    sources: List[str]
    references: List[str]
    documents: Optional[Documents]

    def before(self, line: int) -> List[str]:
        """The sentences before one, in its document; none where documents are not known."""
        if self.documents is None:
            return []
        start = max(start for start in self.documents.starts.tolist() if start <= line)
        return self.sources[max(start, line - CONTEXT) : line]


def read_lines(path: PathLike, expected: int) -> List[str]:
    """Raises BadInput: another number of lines than the source has."""
    lines = read_sentences(path)
    if len(lines) != expected:
        raise BadInput(f"expected {expected} lines, as in the source, found {len(lines)}", path)
    return lines


def read_text(source: PathLike, reference: PathLike, docids: Optional[PathLike]) -> Text:
    """Raises BadInput: files that do not match."""
    sources = read_sentences(source)
    documents = None if docids is None else Documents.read(docids, len(sources))
    return Text(sources, read_lines(reference, len(sources)), documents)


def translations(runs: Sequence[Run], text: Text, count: int) -> Iterator[Section]:
    """The sentences whose translations differ most: by chrF2 of the best and the worst against the reference.

    Raises:
        BadInput: a translation that has not as many lines as the text.
    """
    metric = chrf(2)
    for name in dict.fromkeys(name for run in runs for name in run.found.translations):
        files = {run.name: run.found.translations[name] for run in runs if name in run.found.translations}
        systems = [read_lines(path, len(text.sources)) for path in files.values()]
        found = []
        for line, (*lines, reference) in enumerate(zip(*systems, text.references, strict=True)):
            if len(set(lines)) > 1 and reference:
                scores = [metric.sentence_score(each, [reference]).score for each in lines]
                rows = [(run, each, f"chrF {score:.0f}")
                        for run, each, score in zip(files, lines, scores, strict=True)]  # fmt: skip
                example = Example(
                    f"line {line + 1}",
                    text.before(line),
                    text.sources[line],
                    [("reference", reference, ""), *rows],
                )
                found.append((min(scores) - max(scores), line, example))
        note = (
            f"{len(found)} of {len(text.sources)} sentences are translated differently; here those in which "
            "the best and the worst are farthest apart"
        )
        examples = [example for _, _, example in sorted(found, key=lambda row: row[:2])[:count]]
        yield Section(f"Where translations differ: {name}", examples, note)


def choices(runs: Sequence[Run], sets: Sequence[ContrastiveSet], count: int) -> Iterator[Section]:
    """Contrastive examples that some systems have right and others wrong, from every phenomenon in turn."""
    for suite in sets:
        files = {run.name: run.found.examples[suite.name] for run in runs if suite.name in run.found.examples}
        outcomes = {name: read_outcomes(path) for name, path in files.items()}
        found: List[Any] = []
        turns: Counter = Counter()
        for example in suite.examples:
            each = {name: one.get((suite.name, example.id)) for name, one in outcomes.items()}
            right = [name for name, one in each.items() if one and one.correct]
            wrong = [name for name, one in each.items() if one and not one.correct]
            if right and wrong and None not in each.values():
                turns[example.phenomenon] += 1
                rows = [("right", candidate.current, f"chosen by {', '.join(right)}")
                        if number == example.correct else ("wrong", candidate.current, "")
                        for number, candidate in enumerate(example.candidates)]  # fmt: skip
                title = f"{example.phenomenon}, distance {distance_name(example.distance)}"
                metadata = [f"{field}: {value}" for field, value in example.metadata.items()]
                context = [*example.source_before, *metadata]
                shown = Example(f"{title}; not by {', '.join(wrong)}", context, example.source, rows)
                found.append((turns[example.phenomenon], len(found), shown))
        note = f"{len(found)} of {len(suite.examples)} examples are right with some systems only"
        examples = [shown for _, _, shown in sorted(found, key=lambda row: row[:2])[:count]]
        yield Section(f"Where choices differ: {suite.name}", examples, note)
