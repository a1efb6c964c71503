"""What COMET reads: each sentence, alone or behind the sentences before it in its document.

Embarrassingly Easy Document-Level MT Metrics (Vernikos et al. 2022): the source is preceded by source
sentences, reference and translation both by reference sentences, so that an earlier error is not punished
twice; without references the translation is preceded by translations. The vectors of the current sentence
alone are averaged (COMET's ``use_context``).
"""

from dataclasses import dataclass
from typing import Dict, List, Optional

import numpy as np

from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.text_lines import PathLike, iterate_lines, read_flags
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.comet.models import CometModel


@dataclass(frozen=True)
class CometText:
    """Lines of a translation and what belongs to them.

    Attributes:
        sources, hypotheses: N lines.
        references: N lines; None where there are none.
        documents: their boundaries; None where they are not known.
        current: the lines that are scored; the others serve as context only.
    """

    sources: List[str]
    hypotheses: List[str]
    references: Optional[List[str]]
    documents: Optional[Documents]
    current: np.ndarray


def read_comet_text(
    source: PathLike,
    hypothesis: PathLike,
    reference: Optional[PathLike],
    docids: Optional[PathLike] = None,
    current: Optional[PathLike] = None,
) -> CometText:
    """Read line-aligned files."""
    texts: List[Optional[List[str]]] = []
    for path in (hypothesis, source, reference):
        texts.append(None if path is None else [line.strip() for line in iterate_lines(path)])
        if texts[-1] is not None and len(texts[-1]) != len(texts[0] or ()):
            raise BadInput(
                f"expected {len(texts[0] or ())} lines, as in {hypothesis}, found {len(texts[-1])}", path
            )
    hypotheses, sources, references = texts
    assert hypotheses is not None and sources is not None
    documents = None if docids is None else Documents.read(docids, len(hypotheses))
    marks = np.ones(len(hypotheses), bool) if current is None else read_flags(current, len(hypotheses))
    return CometText(sources, hypotheses, references, documents, np.flatnonzero(marks))


@dataclass(frozen=True)
class CometInputs:
    """One sample for each of n scored lines.

    Attributes:
        samples: ``src``, ``mt`` and, for a model that reads them, ``ref``.
        shortened: lines that have fewer context sentences than their document holds, to fit the encoder.
        too_long: lines of which a text alone is longer than the encoder reads: COMET cuts off its end.
    """

    samples: List[Dict[str, str]]
    shortened: int
    too_long: int


def build_inputs(text: CometText, model: CometModel, context: int = 0) -> CometInputs:
    """The samples of a text.

    Args:
        context: k, previous sentences; never of another document. Where k of them make an input longer than
            the encoder reads, the farthest are left out, for all texts of the line alike.
    """
    if context and not model.pools_sentences:
        raise BadInput(
            "document-level COMET needs a model that averages tokens (wmt20-comet-da, wmt22-comet-da, "
            "wmt20-comet-qe-da)",
            model.name,
        )
    if context and text.documents is None:
        raise BadInput("document-level COMET needs --docids, which says where documents begin")
    sides = {"src": text.sources, "mt": text.hypotheses}
    before = {"src": text.sources, "mt": text.hypotheses}
    if text.references is not None and model.reads_references:
        sides["ref"] = text.references
        before["mt"] = before["ref"] = text.references
    if not context:
        samples = [{side: lines[line] for side, lines in sides.items()} for line in text.current]
        return CometInputs(samples, 0, int(model.too_long(samples).sum()))
    assert text.documents is not None
    starts, _ = text.documents.bounds(text.current)
    numbers = np.minimum(text.current - starts, context)
    separator = model.separator
    sides, before = (
        {
            side: [" ".join(line.replace(separator, " ").split()) for line in lines]
            for side, lines in texts.items()
        }
        for texts in (sides, before)
    )

    def sample(line: int, number: int) -> Dict[str, str]:
        return {
            side: f" {separator} ".join(
                [*filter(None, before[side][line - number : line]), sides[side][line]]
            )
            for side in sides
        }

    left = numbers.copy()
    samples = [sample(line, number) for line, number in zip(text.current, left, strict=True)]
    checked = np.arange(len(samples))
    while len(checked := checked[model.too_long([samples[at] for at in checked]) & (left[checked] > 0)]):
        left[checked] -= 1
        for at in checked:
            samples[at] = sample(text.current[at], left[at])
    return CometInputs(samples, int((left < numbers).sum()), int(model.too_long(samples).sum()))
