"""COMET's scores of a translation, kept beside it: a sentence that has its score is not scored again."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Dict, List, Mapping, Optional

import torch

from ctxmt_fairseq.data.json_files import load_json
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.comet.inputs import CometInputs, CometText, build_inputs
from ctxmt_fairseq.evaluation.comet.models import CometModel
from ctxmt_fairseq.evaluation.comet.report import CometScore
from ctxmt_fairseq.output_files import write_file

BATCH = 16


def comet_score(
    text: CometText,
    model: CometModel,
    context: int = 0,
    cache: Optional[PathLike] = None,
    batch_size: int = BATCH,
    cpu: bool = False,
) -> CometScore:
    """Score a translation.

    Args:
        context: k, previous sentences: document-level COMET.
        cache: a file of scores by content, which is read and added to.
        cpu: leave a GPU alone.

    Raises:
        BadInput: a model without the references that it needs, or see ``build_inputs``.
    """
    if model.needs_references and text.references is None:
        raise BadInput("expected a model that needs no references", model.name)
    inputs = build_inputs(text, model, context)
    segments = _segments(inputs, model, bool(context), cache, batch_size, cpu)
    references = text.references is not None and model.reads_references
    parts = [f"model:{model.name}", f"content:{model.content[:12]}", f"k:{context}"]
    parts += [f"references:{'yes' if references else 'no'}", f"version:{version('unbabel-comet')}"]
    mean = sum(segments) / len(segments)
    counts = (inputs.shortened, inputs.too_long)
    return CometScore(model.name, context, references, mean, segments, *counts, "|".join(parts))


def _segments(
    inputs: CometInputs,
    model: CometModel,
    context: bool,
    cache: Optional[PathLike],
    batch_size: int,
    cpu: bool,
) -> List[float]:
    keys = [_key(sample, model, context) for sample in inputs.samples]
    known = _read(cache)
    new = {key: sample for key, sample in zip(keys, inputs.samples, strict=True) if key not in known}
    if new:
        gpu = torch.cuda.is_available() and not cpu
        known.update(zip(new, model.predict(list(new.values()), context, batch_size, gpu), strict=True))
        if cache is not None:
            write_file(cache, json.dumps(known) + "\n")
    return [known[key] for key in keys]


def _key(sample: Mapping[str, str], model: CometModel, context: bool) -> str:
    """Of all that a score depends on."""
    return hashlib.sha256(json.dumps([model.content, context, sample], sort_keys=True).encode()).hexdigest()


def _read(cache: Optional[PathLike]) -> Dict[str, float]:
    """Scores by content. Raises BadInput: a file that is no cache stays as it is."""
    if cache is None or not Path(cache).exists():
        return {}
    known = load_json(cache)
    if not isinstance(known, dict) or not all(type(score) is float for score in known.values()):
        raise BadInput("expected COMET scores that were kept here; no other file may have this name", cache)
    return known
