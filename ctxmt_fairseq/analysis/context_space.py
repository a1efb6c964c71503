"""Contexts as vectors before and after a model's context encoder (MTCue, section 4 and figure 3)."""

from typing import Any, List, NamedTuple, Sequence, Union

import numpy as np
import torch

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.blocks.vector_context import VectorContextEncoder
from ctxmt_fairseq.models.metadata_model import VectorEncoder

METADATA, PREVIOUS = -1, 1  # distances
_BATCH = 1024


class ContextSpace(NamedTuple):
    """The vectors of n texts, float32: (n, R) from the text encoder, and (n, D) from the context encoder."""

    before: np.ndarray
    after: np.ndarray


def context_encoder(model: Any) -> VectorContextEncoder:
    """The model's encoder of context vectors."""
    if not isinstance(model.encoder, VectorEncoder):
        raise BadInput(
            "expected a model that encodes vectors of contexts (mtcue_transformer or cue_transformer), "
            f"found {architecture(model)}"
        )
    return model.encoder.context_encoder


def check_distance(model: Any, distance: int) -> None:
    """Refuse a distance with which the model was not trained."""
    table = context_encoder(model).distance_embeddings
    if table is not None and distance >= table.num_embeddings:
        raise BadInput(f"--sentences: {architecture(model)} was trained without previous sentences")


def context_space(
    loaded: LoadedModels, texts: List[str], distance: Union[int, Sequence[int]] = METADATA
) -> ContextSpace:
    """The vectors of texts, when each is the only context of a sentence: ``METADATA``, or ``PREVIOUS`` for
    the sentence before; the distance of all texts, or of each. The model must have been trained with it. For
    ``cue_transformer``, ``after`` is the output of the context encoder before the mean, which changes nothing
    for a single vector."""
    model = loaded.model
    encoder = context_encoder(model)
    places = np.broadcast_to(np.array(distance, np.int64), len(texts))
    for each in np.unique(places).tolist():
        check_distance(model, each)
    surface = loaded.source_subwords.steps.surface  # sentences are embedded in the same form as in training
    texts = [
        text if place == METADATA else surface(text)
        for text, place in zip(texts, places.tolist(), strict=True)
    ]
    contexts = loaded.contexts_of([""] * len(texts), [{"": text} for text in texts])
    before = np.asarray(contexts.vectors[contexts.metadata[:, 0]], np.float32)
    after = []
    with torch.no_grad():
        for start in range(0, len(texts), _BATCH):
            vectors = torch.from_numpy(before[start : start + _BATCH]).to(loaded.device)
            distances = torch.tensor(places[start : start + _BATCH, None], device=loaded.device)
            after.append(encoder(vectors.unsqueeze(1), distances).states[:, 0].float().cpu().numpy())
    return ContextSpace(before, np.concatenate(after))
