"""Finds the lines that systems translate differently, and sorts them by the difference of their scores."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

import numpy as np

from ctxmt_fairseq.evaluation.significance.measures import SacrebleuMeasure
from ctxmt_fairseq.text.documents import Documents


@dataclass(frozen=True)
class LinedText:
    """A text and its translations by system, line by line.

    Attributes:
        documents: their boundaries; None: every line is a document.
        current: (N,) bool, False for lines that serve as context only; None: there are no such lines.
    """

    sources: Sequence[str]
    references: Sequence[str]
    hypotheses: Mapping[str, Sequence[str]]
    documents: Optional[Documents]
    current: Optional[np.ndarray] = None
    metadata: Optional[Sequence[Mapping[str, str]]] = None

    @property
    def translated(self) -> List[int]:
        """The numbers, from 0, of the lines that do not serve as context only."""
        every = list(range(len(self.sources)))
        return every if self.current is None else np.flatnonzero(self.current).tolist()


@dataclass(frozen=True)
class DifferingLine:
    """A line (from 1) whose translations differ, with the sentences before it in its document, and the score
    of this line alone, 0 to 100, of each system."""

    line: int
    source: str
    reference: str
    context: List[str]
    reference_context: List[str]
    metadata: Mapping[str, str]
    hypotheses: Mapping[str, str]
    scores: Mapping[str, float]

    @property
    def difference(self) -> float:
        """The last system's score minus the first's."""
        first, *_, last = self.scores.values()
        return last - first

    def as_dict(self) -> Dict[str, Any]:
        return {**vars(self), "difference": self.difference}


def differing_lines(text: LinedText, measure: SacrebleuMeasure, context: int) -> List[DifferingLine]:
    """The lines whose translations differ, with ``context`` sentences before each, and with the largest
    difference of scores, each of a line alone, first."""
    systems = text.hypotheses.values()
    lines = [line for line in text.translated if len({hypotheses[line] for hypotheses in systems}) > 1]
    references = [text.references[line] for line in lines]
    scores = {
        name: measure.scores(measure.statistics([hypotheses[line] for line in lines], references)).tolist()
        for name, hypotheses in text.hypotheses.items()
        if lines
    }
    starts = np.array(lines, np.int64)
    if text.documents is not None and lines:
        starts = np.maximum(text.documents.bounds(starts)[0], starts - context)
    found = [
        DifferingLine(
            line=line + 1,
            source=text.sources[line],
            reference=text.references[line],
            context=list(text.sources[start:line]),
            reference_context=list(text.references[start:line]),
            metadata=dict(text.metadata[line]) if text.metadata else {},
            hypotheses={name: hypotheses[line] for name, hypotheses in text.hypotheses.items()},
            scores={name: values[number] for name, values in scores.items()},
        )
        for number, (line, start) in enumerate(zip(lines, starts.tolist(), strict=True))
    ]
    return sorted(found, key=lambda line: -line.difference)


def listing(found: Sequence[DifferingLine], names: Sequence[str], measure: str, total: int, top: int) -> str:
    """The ``top`` lines with the largest differences in either direction, of ``total`` lines, as text."""
    better = sum(line.difference > 0 for line in found)
    worse = sum(line.difference < 0 for line in found)
    parts = [
        f"{len(found):,} of {total:,} lines differ; {measure} of {names[-1]} is higher than that of "
        f"{names[0]} on {better:,}, lower on {worse:,}"
    ]
    ends = [*found[:top], *found[max(top, len(found) - top) :]]
    parts += ["\n".join(_lines(line, measure)) for line in ends]
    return "\n\n".join(parts)


def _lines(line: DifferingLine, measure: str) -> Iterator[str]:
    rows = []
    context = zip(line.context, line.reference_context, strict=True)
    for distance, (source, reference) in enumerate(context, -len(line.context)):
        rows += [(f"source {distance}", source), (f"reference {distance}", reference)]
    rows += [(field, value) for field, value in line.metadata.items()]
    rows += [("source", line.source), ("reference", line.reference)]
    rows += [(f"{name} ({line.scores[name]:.1f})", text) for name, text in line.hypotheses.items()]
    width = max(len(name) for name, _ in rows)
    yield f"line {line.line}: {measure} {line.difference:+.1f}"
    for name, text in rows:
        yield f"  {name:<{width}}  {text}".rstrip()
