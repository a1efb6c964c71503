"""A training step of MTCue against stock fairseq's transformer, and against its CUE baseline."""

from argparse import Namespace
from typing import Any, Callable, Dict, List, Tuple

import torch
from fairseq.models import ARCH_CONFIG_REGISTRY

from ctxmt_fairseq.models.sizes import SIZES
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask
from scripts.benchmark.paired import Comparison, alternate, seconds
from scripts.benchmark.training import BATCHES, Batch, batches_of, sentences, smoothed, step_of
from tests.helpers import synthetic
from tests.helpers.synthetic import DOCUMENT, FIELDS

PREVIOUS = 5  # sentences (the paper's, table 1); with the fields and the own vector up to 12 contexts
# Architecture and width of the vectors: MiniLM's, and DistilBERT's for CUE (section 3.3).
MODELS = {"MTCue": ("mtcue_transformer", 384), "CUE": ("cue_transformer", 768), "BASE": ("transformer", 384)}
PAPER = "reported (the paper: 0.81 / 1.29 GPU hours an epoch, 0.63)"


def make_model(task: MetadataContextTask, name: str, size: str) -> torch.nn.Module:
    """A model of ``MODELS`` in one of the sizes, its embeddings tied."""
    arch, dimension = MODELS[name]
    options: Dict[str, Any] = {**SIZES[size], "share_all_embeddings": True}
    options.update(zip(("max_source_positions", "max_target_positions"), synthetic.LIMITS, strict=True))
    measured = dict(vector_dimension=dimension, contexts_per_sample=float(1 + FIELDS + PREVIOUS))
    args = Namespace(arch=arch, **options, **measured)
    ARCH_CONFIG_REGISTRY[arch](args)
    torch.manual_seed(1)
    return task.build_model(args)


def make_run(
    name: str, size: str, device: torch.device, max_tokens: int
) -> Tuple[Callable[[Batch], None], List[Batch]]:
    """A model's training step, and its batches: of the same sentences for every model."""
    task = synthetic.make_metadata_task(size, PREVIOUS)
    model = make_model(task, name, size)
    documents = 1 + sentences(max_tokens) // DOCUMENT
    contexts = synthetic.contexts(documents * DOCUMENT, MODELS[name][1])
    dataset = synthetic.dataset(task, documents, DOCUMENT, contexts=contexts)
    return step_of(model, smoothed(task), device), batches_of(dataset, device, max_tokens)


def metadata(size: str, repeats: int, device: torch.device, max_tokens: int) -> List[Comparison]:
    """Time of a step; a pair runs on the same sentences, every repeat goes through all batches."""
    runs = {name: make_run(name, size, device, max_tokens) for name in MODELS}

    def way(name: str) -> Callable[[int], float]:
        step, batches = runs[name]
        return lambda number: seconds(lambda: step(batches[number % BATCHES]), device)

    return [
        Comparison(
            f"train {size}, step time",
            ("MTCue", other),
            "s",
            alternate(way("MTCue"), way(other), repeats * BATCHES, warm_up=2),
            PAPER if other == "CUE" else "",
        )
        for other in ("BASE", "CUE")
    ]
