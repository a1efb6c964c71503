"""Sentences and contrastive examples in which systems differ, as sections of the page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.data.documents import Documents, read_sentences
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.evaluation.contrastive_sets.examples import ContrastiveExample
from ctxmt_fairseq.evaluation.contrastive_sets.formats import distance_name
from ctxmt_fairseq.evaluation.metrics import chrf
from ctxmt_fairseq.evaluation.significance.contrast import Outcome, read_outcomes
from ctxmt_fairseq.report.blocks import Example, Examples, Section
from ctxmt_fairseq.report.runs import Run

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
        start = next(start for start in reversed(self.documents.starts.tolist()) if start <= line)
        return self.sources[max(start, line - CONTEXT) : line]


def read_text(source: Path, reference: Path, docids: Optional[Path]) -> Text:
    """Read a text.

    Raises:
        BadInput: files that do not match.
    """
    sources, references = read_sentences(source), read_sentences(reference)
    if len(sources) != len(references):
        raise BadInput(f"expected {len(sources)} lines, as in {source}, found {len(references)}", reference)
    documents = None if docids is None else Documents.read(docids, len(sources))
    return Text(sources, references, documents)


def translations_section(runs: Sequence[Run], text: Text, count: int) -> Iterator[Section]:
    """The sentences whose translations differ most: by chrF2 of the best and the worst against the reference.

    Raises:
        BadInput: a translation that has not as many lines as the text.
    """
    names = dict.fromkeys(name for run in runs for name in run.found.translations)
    for name in names:
        having = [run for run in runs if name in run.found.translations]
        if len(having) < 2:
            continue
        systems = [read_sentences(run.found.translations[name]) for run in having]
        for run, system in zip(having, systems, strict=True):
            if len(system) != len(text.sources):
                raise BadInput(
                    f"expected {len(text.sources)} lines, as in the source, found {len(system)}",
                    run.found.translations[name],
                )
        chosen, different = _most_different(systems, text.references, count)
        if not chosen:
            continue
        examples = [
            Example(
                f"line {line + 1}",
                text.before(line),
                text.sources[line],
                [
                    ("reference", text.references[line], ""),
                    *(
                        (run.name, system[line], f"chrF {score:.0f}")
                        for run, system, score in zip(having, systems, scores, strict=True)
                    ),
                ],
            )
            for line, scores in chosen
        ]
        yield Section(
            f"Where translations differ: {name}",
            [Examples(examples)],
            f"{different} of {len(text.sources)} sentences are translated differently; here those in which "
            "the best and the worst are farthest apart",
        )


def _most_different(
    systems: Sequence[Sequence[str]], references: Sequence[str], count: int
) -> Tuple[List[Tuple[int, List[float]]], int]:
    """Lines with the scores of the systems, and how many lines differ at all."""
    metric = chrf(2)
    found = []
    for line, (*translations, reference) in enumerate(zip(*systems, references, strict=True)):
        if len(set(translations)) > 1 and reference:
            scores = [metric.sentence_score(each, [reference]).score for each in translations]
            found.append((line, scores))
    chosen = sorted(found, key=lambda row: (min(row[1]) - max(row[1]), row[0]))[:count]
    return chosen, len(found)


def choices_section(runs: Sequence[Run], sets: Sequence[ContrastiveSet], count: int) -> Iterator[Section]:
    """Contrastive examples that some systems have right and others wrong, from every phenomenon in turn."""
    for suite in sets:
        having = [run for run in runs if suite.name in run.found.examples]
        if len(having) < 2:
            continue
        outcomes = [read_outcomes(run.found.examples[suite.name]) for run in having]
        examples = []
        different = 0
        seen: Dict[str, int] = {}
        for example in suite.examples:
            key = (suite.name, example.id)
            found = [each[key] for each in outcomes if key in each]
            if len(found) == len(having) and len({one.correct for one in found}) > 1:
                different += 1
                turn = seen[example.phenomenon] = seen.get(example.phenomenon, 0) + 1
                examples.append((turn, different, _choice(example, having, found)))
        if examples:
            shown = [example for _, _, example in sorted(examples, key=lambda row: row[:2])[:count]]
            yield Section(
                f"Where choices differ: {suite.name}",
                [Examples(shown)],
                f"{different} of {len(suite.examples)} examples are right with some systems only",
            )


def _choice(example: ContrastiveExample, runs: Sequence[Run], outcomes: Sequence[Outcome]) -> Example:
    right = ", ".join(run.name for run, one in zip(runs, outcomes, strict=True) if one.correct)
    wrong = ", ".join(run.name for run, one in zip(runs, outcomes, strict=True) if not one.correct)
    rows = [
        ("right" if number == example.correct else "wrong", candidate.current,
         f"chosen by {right}" if number == example.correct else "")
        for number, candidate in enumerate(example.candidates)
    ]  # fmt: skip
    title = f"{example.phenomenon}, distance {distance_name(example.distance)}; not by {wrong}"
    return Example(title, [*example.source_before, *_metadata(example)], example.source, rows)


def _metadata(example: ContrastiveExample) -> List[str]:
    return [f"{field}: {value}" for field, value in example.metadata.items()]
