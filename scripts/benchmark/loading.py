"""Batches as a training gets them from a worker of the loader, against stock fairseq's."""

import time
from typing import Any, List, Sequence

import numpy as np
from fairseq.data import LanguagePairDataset
from fairseq.data.iterators import EpochBatchIterator

from scripts.benchmark.paired import Comparison, alternate
from tests.helpers import synthetic

GOAL = "at most 2"
_BUFFER = 10  # batches that fairseq-train has made ahead


def loading(repeats: int, sentences: int, max_tokens: int) -> List[Comparison]:
    """Time of a thousand target tokens with one worker, single sentences and windows of K = 4 / stock's
    single sentences."""
    alone = synthetic.make_task("tiny", 0, 0)
    single, windows = (
        synthetic.dataset(task, documents=-(-sentences // 50), document_length=50)
        for task in (alone, synthetic.make_task("tiny"))
    )
    texts: Sequence[Any] = (single.source, single.target)
    lengths = (np.array([len(text[line]) for line in range(len(single))]) for text in texts)
    sides = zip(texts, lengths, (alone.source_dictionary, alone.target_dictionary), strict=True)
    stock = LanguagePairDataset(*(each for side in sides for each in side))

    def compare(name: str, dataset: Any) -> Comparison:
        values = alternate(
            lambda _: thousand_tokens(dataset, max_tokens),
            lambda _: thousand_tokens(stock, max_tokens),
            repeats,
        )
        return Comparison(f"load, {name}", ("ours", "stock sentences"), "s", values, GOAL)

    return [compare("single sentences", single), compare("windows, K = 4", windows)]


def thousand_tokens(dataset: Any, max_tokens: int) -> float:
    """Seconds, without those until the first batch."""
    groups = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=max_tokens)
    batches = EpochBatchIterator(
        dataset, dataset.collater, list(groups), seed=1, num_workers=1, buffer_size=_BUFFER
    ).next_epoch_itr()
    next(batches)
    begin, tokens = time.perf_counter(), 0
    for batch in batches:
        tokens += batch["ntokens"]
    return 1000 * (time.perf_counter() - begin) / tokens
