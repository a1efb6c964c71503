"""Checkpoints with random weights of the three tasks, and a text to probe them with, for tests."""

import functools
import json
import random

import torch

from tests.helpers.context_stores import make_store, write_lines, write_split
from tests.helpers.saved_models import save, trained

WORDS = "abcdefghij"
LENGTHS = (4, 1, 3, 5)  # of the documents
TASKS = {
    "document_window": (
        *("--source-context", "2", "--target-context", "1", "--segment-positions", "shift"),
        *("--segment-shift", "3", "--sample-context-size"),
    ),
    "multi_source": ("--source-context", "2",),
    "metadata_context": ("--source-context", "2", "--context-dropout", "0.1"),
}  # fmt: skip
ARCHITECTURES = {
    "document_window": "concat_transformer",
    "multi_source": "dual_encoder_transformer",
    "metadata_context": "mtcue_transformer",
}


def checkpoint_by_task(root):
    """task -> its checkpoint below a folder, made when it is first asked for."""
    return functools.cache(lambda task: checkpoint(root / task, task))


def checkpoint(folder, task, *options, arch=None):
    """A checkpoint of a task, so random that context matters; with its data folder."""
    folder.mkdir(exist_ok=True)
    more = ()
    if task == "metadata_context":
        (folder / "data").mkdir(exist_ok=True)
        write_split(folder, "train")
        write_lines(folder / "data" / "train.en-fr.docids", ["0"] * 4 + ["1"] * 2)
        store, _ = make_store(folder, "train")
        more = ("--context-store", str(store))
    return randomised(folder, arch or ARCHITECTURES[task], *TASKS[task], *more, *options, task=task)


def randomised(folder, arch, *options, task="document_window"):
    """A checkpoint with random weights, in a folder with its data folder."""
    folder.mkdir(exist_ok=True)
    state, _ = trained(folder, *options, arch=arch, task=task)
    generator = torch.Generator().manual_seed(5)
    for tensor in state["model"].values():
        if tensor.is_floating_point() and tensor.dim():
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.6)
    return save(folder / "model.pt", state)


def write_text(folder, lengths=LENGTHS, seed=3, **files):
    """A text of random words; ``files`` replaces lines by suffix. Returns its prefix."""
    draw = random.Random(seed)
    n = sum(lengths)

    def lines():
        return [" ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 6))) for _ in range(n)]

    columns = {
        "en": lines(),
        "fr": lines(),
        "docids": [str(number) for number, length in enumerate(lengths) for _ in range(length)],
        "meta.jsonl": [json.dumps({"genre": "Drama"} if line % 3 else {}) for line in range(n)],
    }
    for suffix, text in {**columns, **files}.items():
        write_lines(folder / f"text.{suffix}", text)
    return str(folder / "text")
