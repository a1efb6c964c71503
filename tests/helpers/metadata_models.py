"""Tiny models and batches of the task ``metadata_context``, for tests; no store."""

from types import SimpleNamespace

import numpy as np
import torch

from tests.helpers.random_models import STOCK_TASK, build_random
from tests.helpers.window_datasets import PAD, sentences

VECTOR_DIM, CONTEXTS, REACH, TAGS = 12, 5.0, 3, 50
TASK = SimpleNamespace(
    **vars(STOCK_TASK),
    vector_dimension=VECTOR_DIM,
    contexts_per_sample=CONTEXTS,
    tag_count=TAGS,
    context_options=lambda: SimpleNamespace(source_context=REACH),
)
MTCUE, CUE, TAGGING = "mtcue_transformer", "cue_transformer", "tagging_transformer"
PRE_NORM = {"encoder_normalize_before": True, "decoder_normalize_before": True}
CASES = {
    "mtcue": (MTCUE, {}),
    "mtcue pre-norm": (MTCUE, PRE_NORM),
    "mtcue serial": (MTCUE, {"context_fusion": "serial"}),
    "mtcue separate": (MTCUE, {"context_fusion": "separate", "context_gate": "branch"}),
    "mtcue hierarchical": (MTCUE, {"context_fusion": "hierarchical"}),
    "mtcue flat": (MTCUE, {"context_fusion": "flat"}),
    "mtcue gate": (MTCUE, {"context_gate": "branch"}),
    "mtcue no encoder": (MTCUE, {"context_layers": 0}),
    "mtcue no encoder pre-norm": (MTCUE, {"context_layers": 0, **PRE_NORM}),
    "mtcue no positions": (MTCUE, {"context_positions": "no"}),
    "mtcue no QK-norm": (MTCUE, {"context_qk_norm": "no"}),
    "mtcue as its program": (MTCUE, {"context_qk_norm": "all", "context_fusion": "parallel-mean"}),
    "cue": (CUE, {}),
    "cue pre-norm": (CUE, PRE_NORM),
    "cue no QK-norm": (CUE, {"context_qk_norm": "no"}),
    "mtcue layer norm": (MTCUE, {"context_input": "layernorm"}),
    "mtcue as tagging": (
        MTCUE,
        {"context_fusion": "flat", "context_layers": 0, "context_input": "layernorm"},
    ),
    "tagging": (TAGGING, {}),
    "tagging pre-norm": (TAGGING, PRE_NORM),
}
# Per row its contexts' distances: 0 the current sentence, 1 and more previous ones, -1 metadata.
DISTANCES = [[-1, -1, 3, 2, 1, 0], [], [-1, 0], [-1, -1, -1], [1], [], [-1, 2, 1], [2, -1, 9, -1]]
ROWS = range(len(DISTANCES))
WITH_METADATA = [row for row, distances in enumerate(DISTANCES) if -1 in distances]
WITHOUT = [row for row, distances in enumerate(DISTANCES) if not distances]
_rng = np.random.default_rng(3)
VECTORS = [_rng.normal(size=(len(row), VECTOR_DIM)).astype(np.float32) for row in DISTANCES]
SOURCES, TARGETS = sentences(len(DISTANCES), 4), sentences(len(DISTANCES), 210)


def make(case="mtcue", seed=1, size="tiny", **options):
    """A model of a case, with random weights."""
    arch, more = CASES[case]
    return build_random(f"{arch}_{size}", TASK, seed, **{"dropout": 0.1, **more, **options})


def has_context(model, row):
    """Whether the model sees any of a row's context: tags are of metadata only."""
    return row in WITH_METADATA if model.context_format.kind == "tags" else bool(DISTANCES[row])


def batch_of(model, rows=ROWS, *, absent=False, distances=DISTANCES, vectors=VECTORS,
             columns=0, order=None):  # fmt: skip
    """A batch as fairseq makes it: the source padded left, the rest right.

    Args:
        absent: no row has any context.
        distances, vectors: the rows' contexts; the tag of metadata is a function of its vector.
        columns: this many more columns of padding.
        order: of the columns; default: as they are, the padding last.
    """
    width = columns + max([1, *(len(distances[row]) for row in rows)])
    order = list(range(width)) if order is None else order
    inputs = {
        "vectors": torch.zeros(len(rows), width, VECTOR_DIM),
        "distances": torch.full((len(rows), width), -2),
        "tags": torch.full((len(rows), width), -1),
    }
    for number, row in enumerate(rows):
        for place, (distance, vector) in enumerate(zip(distances[row], vectors[row], strict=True)):
            if not absent:
                inputs["vectors"][number, place] = torch.from_numpy(vector)
                inputs["distances"][number, place] = distance
                if distance == -1:
                    inputs["tags"][number, place] = tag_of(vector)
    context = {name: value[:, order] for name, value in inputs.items()}
    sources, targets = ([texts[row] for row in rows] for texts in (SOURCES, TARGETS))
    return {
        "id": torch.tensor(list(rows)),
        "net_input": {
            "src_tokens": _padded(sources, left=True),
            "src_lengths": torch.tensor([len(source) for source in sources]),
            "prev_output_tokens": _padded([target.roll(1) for target in targets]),
            "context": context,
        },
        "target": _padded(targets),
    }


def tag_of(vector):
    return int(abs(vector[0]) * 1000) % TAGS


def _padded(texts, left=False):
    width = max(len(text) for text in texts)
    rows = torch.full((len(texts), width), PAD)
    for row, text in zip(rows, texts, strict=True):
        row[width - len(text) if left else 0 :][: len(text)] = text
    return rows
