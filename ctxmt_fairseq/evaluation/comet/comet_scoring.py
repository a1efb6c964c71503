"""Scores a translation with COMET, and keeps the scores in a file so that no sentence is scored twice."""

import contextlib
import hashlib
import json
from importlib.metadata import version
from typing import Callable, Dict, List, Mapping, Optional

import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import Journal, json_line
from ctxmt_fairseq.corpora.workers import chunks
from ctxmt_fairseq.evaluation.comet.comet_models import CometModel
from ctxmt_fairseq.evaluation.comet.comet_score import CometScore
from ctxmt_fairseq.evaluation.comet.inputs import CometText, build_inputs
from ctxmt_fairseq.text.text_lines import PathLike

BATCH = 16
KEPT = 1024  # sentences whose scores are written to the file at once
Sample = Mapping[str, str]
Predict = Callable[[List[Sample]], List[float]]


def comet_score(
    text: CometText,
    model: CometModel,
    context: int = 0,
    cache: Optional[PathLike] = None,
    batch_size: int = BATCH,
    cpu: bool = False,
) -> CometScore:
    """Score a translation, each line with ``context`` previous sentences (document-level COMET). ``cache`` is
    a journal of scores by the hash of their sample, to which new ones are added."""
    if model.needs_references and text.references is None:
        raise BadInput("needs references; give them, or choose a model that needs none", model.name)
    inputs = build_inputs(text, model, context)
    keys = [_key(sample, model, bool(context)) for sample in inputs.samples]
    samples = dict(zip(keys, inputs.samples, strict=True))
    how = bool(context), batch_size, torch.cuda.is_available() and not cpu
    known = _scores(samples, lambda some: model.predict(some, *how), cache)
    segments = [known[key] for key in keys]
    references = text.references is not None and model.reads_references
    parts = [f"model:{model.name}", f"content:{model.content[:12]}", f"k:{context}"]
    parts += [f"references:{'yes' if references else 'no'}", f"version:{version('unbabel-comet')}"]
    mean = sum(segments) / len(segments)
    counts = (inputs.shortened, inputs.too_long)
    return CometScore(model.name, context, references, mean, segments, *counts, "|".join(parts))


def _scores(samples: Mapping[str, Sample], predict: Predict, cache: Optional[PathLike]) -> Dict[str, float]:
    """The score of each sample by its key: what the journal has is not predicted."""
    known: Dict[str, float] = {}

    def keep(line: bytes, number: int) -> None:
        try:
            scores = json.loads(line)
        except (ValueError, RecursionError):
            scores = None
        if not isinstance(scores, dict) or not all(type(score) is float for score in scores.values()):
            raise BadInput("expected COMET scores; delete the file to score anew", cache, number)
        known.update(scores)

    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(Journal(cache, {"scores": "COMET"}, keep)) if cache else None
        new = {key: sample for key, sample in samples.items() if key not in known}
        progress = stack.enter_context(tqdm(total=len(new), unit=" sentences", disable=None))
        for some in chunks(new.items(), KEPT):
            scores = predict([sample for _, sample in some])
            found = {key: score for (key, _), score in zip(some, scores, strict=True)}
            known.update(found)
            if journal:
                journal.add(json_line(found))
            progress.update(len(some))
    return known


def _key(sample: Sample, model: CometModel, context: bool) -> str:
    """A hash of all that a score depends on."""
    return hashlib.sha256(json.dumps([model.content, context, sample], sort_keys=True).encode()).hexdigest()
