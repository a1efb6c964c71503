"""Start of a training on tens of millions of windows against stock fairseq's on as many single sentences."""

import tempfile
import time
from pathlib import Path
from typing import Any, List, Tuple

import numpy as np
from fairseq.data import LanguagePairDataset

from ctxmt_fairseq.text.documents import Documents
from scripts.benchmark.paired import Comparison, alternate
from tests.helpers import synthetic
from tests.helpers.process import in_new_process, resident

WAYS = ("windows, K = 4", "stock sentences")
EPOCHS = ("of the first epoch", "of the second")
MAX_TOKENS = 16_000
_DOCUMENT_LENGTH = 800  # mean sentences of a document, as in film subtitles
_CHUNK = 1_000_000


def write_corpus(folder: Path, sentences: int) -> None:
    """Document ids as text, and the sentences' sizes as the mapped arrays that binarised data has."""
    rng = np.random.default_rng(1)
    with open(folder / "docids", "w", encoding="utf-8") as stream:
        written, document = 0, 0
        while written < sentences:
            length = min(int(rng.geometric(1 / _DOCUMENT_LENGTH)), sentences - written)
            stream.write(f"film{document}\n" * length)
            written, document = written + length, document + 1
    for side in ("source", "target"):
        parts = [min(_CHUNK, sentences - at) for at in range(0, sentences, _CHUNK)]
        np.save(folder / side, np.concatenate([synthetic.lengths(rng, part) + 1 for part in parts]))


class SentenceSizes:
    """Binarised sentences as far as batching looks at them."""

    def __init__(self, path: Path):
        self.sizes = np.load(path, mmap_mode="r")

    def __len__(self) -> int:
        return len(self.sizes)


def index_windows(folder: Path) -> Tuple[float, float, float]:
    """Seconds, and MiB at most, from the ids to the first epoch's batches; seconds to the next's."""
    task = synthetic.make_task("tiny")
    source, target = (SentenceSizes(folder / f"{side}.npy") for side in ("source", "target"))
    start = time.perf_counter()
    documents = Documents.read(folder / "docids", len(source))
    dataset = task.build_dataset("synthetic", source, target, documents, current=None, training=True)
    _batch(dataset)
    first, peak = time.perf_counter(), resident(peak=True)
    dataset.set_epoch(2)
    _batch(dataset)
    return first - start, peak, time.perf_counter() - first


def index_sentences(folder: Path) -> Tuple[float, float]:
    """Seconds, and MiB at most, to the first epoch's batches of fairseq's own dataset."""
    task = synthetic.make_task("tiny")
    source, target = (SentenceSizes(folder / f"{side}.npy") for side in ("source", "target"))
    start = time.perf_counter()
    _batch(
        LanguagePairDataset(
            source, source.sizes, task.source_dictionary, target, target.sizes, task.target_dictionary
        )
    )
    return time.perf_counter() - start, resident(peak=True)


def _batch(dataset: Any) -> None:
    """What fairseq does before the first update."""
    indices, _ = dataset.filter_indices_by_size(dataset.ordered_indices(), synthetic.LIMITS)
    dataset.batch_by_size(indices, max_tokens=MAX_TOKENS, required_batch_size_multiple=8)


def indexing(sentences: int, repeats: int) -> List[Comparison]:
    """Time and peak memory, each run in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as name:
        folder = Path(name)
        write_corpus(folder, sentences)
        measured = alternate(
            lambda _: in_new_process(index_windows, folder),
            lambda _: in_new_process(index_sentences, folder),
            repeats,
            warm_up=0,
        )
    title = f"index {sentences / 1e6:g} million sentences"
    comparisons = [
        Comparison(f"{title}, {what}", WAYS, unit, [(a[at], b[at]) for a, b in measured], goal)
        for at, (what, unit, goal) in enumerate(
            [("time", "s", "windows within 15 s"), ("peak memory", "MiB", "windows within 1536 MiB")]
        )
    ]
    epochs = [(first, later) for (first, _, later), _ in measured]
    return [*comparisons, Comparison(f"{title}, batches", EPOCHS, "s", epochs, "a later epoch within 5 s")]
