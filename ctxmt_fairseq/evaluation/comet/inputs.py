"""What COMET reads: each sentence, alone or after the sentences before it in its document.

Embarrassingly Easy Document-Level MT Metrics (Vernikos et al. 2022): source sentences precede the source;
reference sentences precede both the reference and the translation, so that an earlier error is not punished
twice. Without references, translations precede the translation. Only the vectors of the current sentence are
averaged (COMET's ``use_context``).
"""

from dataclasses import dataclass
from typing import Dict, List, Optional

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.comet.comet_models import CometModel
from ctxmt_fairseq.evaluation.metrics import read_lines
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.text_lines import PathLike


@dataclass(frozen=True)
class CometText:
    """Lines of a translation and what belongs to them; those in ``current`` are scored."""

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
    """Read files whose lines belong together."""
    paths = [path for path in (hypothesis, source, reference) if path is not None]
    (hypotheses, sources, *references), marks = read_lines(paths, current)
    documents = None if docids is None else Documents.read(docids, len(marks))
    found = references[0] if references else None
    return CometText(sources, hypotheses, found, documents, np.flatnonzero(marks))


@dataclass(frozen=True)
class CometInputs:
    """One sample (``src``, ``mt`` and, for a model that reads references, ``ref``) for each of n scored
    lines.

    Attributes:
        shortened: how many lines have fewer context sentences than asked for, so that they fit the encoder.
        too_long: how many lines have a text that is too long even alone: COMET cuts off its end.
    """

    samples: List[Dict[str, str]]
    shortened: int
    too_long: int


def build_inputs(text: CometText, model: CometModel, context: int = 0) -> CometInputs:
    """The samples of a text, each line with up to ``context`` previous sentences of its document. If they
    make an input too long for the encoder, the farthest are left out, for all texts of the line alike."""
    if context and not model.pools_sentences:
        known = "wmt20-comet-da, wmt22-comet-da, wmt20-comet-qe-da"
        raise BadInput(f"document-level COMET needs a model that averages tokens ({known})", model.name)
    if context and text.documents is None:
        raise BadInput("document-level COMET needs --docids, which says where documents begin")
    sides = {"src": text.sources, "mt": text.hypotheses}
    if text.references is not None and model.reads_references:
        sides["ref"] = text.references
    before = {**sides, "mt": sides.get("ref", text.hypotheses)}
    if not context:
        samples = [{side: lines[line] for side, lines in sides.items()} for line in text.current]
        return CometInputs(samples, 0, int(model.too_long(samples).sum()))
    assert text.documents is not None
    starts, _ = text.documents.bounds(text.current)
    numbers = np.minimum(text.current - starts, context)
    separator = model.separator

    def plain(lines: List[str]) -> List[str]:
        return [" ".join(line.replace(separator, " ").split()) for line in lines]

    sides, before = ({side: plain(lines) for side, lines in texts.items()} for texts in (sides, before))

    def sample(line: int, number: int) -> Dict[str, str]:
        context = {side: filter(None, before[side][line - number : line]) for side in sides}
        return {side: f" {separator} ".join([*context[side], sides[side][line]]) for side in sides}

    left = numbers.copy()
    samples = [sample(line, number) for line, number in zip(text.current, left, strict=True)]
    checked = np.arange(len(samples))
    while len(checked := checked[model.too_long([samples[at] for at in checked]) & (left[checked] > 0)]):
        left[checked] -= 1
        for at in checked:
            samples[at] = sample(text.current[at], left[at])
    return CometInputs(samples, int((left < numbers).sum()), int(model.too_long(samples).sum()))
