"""In which order examples are batched, and how batches are cut from runs of consecutive sentences."""

from typing import List, Optional

import numpy as np


def by_size(source: np.ndarray, target: np.ndarray, rng: Optional[np.random.Generator] = None) -> np.ndarray:
    """Examples by source, then target size; equal sizes as they stand, or in an order drawn from ``rng``.

    Args:
        source, target: (n,) tokens.

    Returns:
        (n,) int64.
    """
    # Both sizes and the rank among equals in one number: sorting plain numbers is the fastest.
    keys = np.zeros(len(source), np.uint64)
    for sizes in (source, target):
        keys <<= np.uint64(16)
        keys |= np.minimum(sizes, 2**16 - 1).astype(np.uint16)
    keys <<= np.uint64(32)
    order = rank = np.arange(len(source), dtype=np.uint32)
    if rng is not None:
        order = rng.permutation(order)
        rank[order] = np.arange(len(source), dtype=np.uint32)
    keys |= rank
    keys.sort()
    keys &= np.uint64(2**32 - 1)
    return order[keys.view(np.int64)].astype(np.int64)


def runs(lines: np.ndarray, documents: np.ndarray, length: int, offset: int = 0) -> List[np.ndarray]:
    """Places (in ``lines``) of runs of at most ``length`` consecutive lines of one document.

    Args:
        lines: (n,) increasing line numbers.
        documents: (n,) first line of each line's document.
        offset: the first run of a document is shorter by this much, so that epochs can cut differently.
    """
    if not len(lines):
        return []
    numbers = (lines - documents + offset) // length
    breaks = (np.diff(lines) != 1) | (np.diff(documents) != 0) | (np.diff(numbers) != 0)
    return np.split(np.arange(len(lines)), np.flatnonzero(breaks) + 1)


def batches_of_runs(
    parts: List[np.ndarray],
    tokens: np.ndarray,
    max_tokens: Optional[int],
    max_sentences: Optional[int],
    rng: Optional[np.random.Generator] = None,
) -> List[np.ndarray]:
    """Runs of similar size together, each whole where the limits allow it.

    Without ``rng``, runs of equal size stand as given: the neighbours of one document in one batch.

    Args:
        parts: runs, as places.
        tokens: (n,) size of the example at each place.
        max_tokens: limit for the longest example times the number of examples; None or 0 for none.
        max_sentences: limit for the number of examples; None or 0 for none.
        rng: draws the order of runs of equal size.
    """
    if rng is not None:
        parts = [parts[number] for number in rng.permutation(len(parts))]
    batches: List[np.ndarray] = []
    batch: List[int] = []
    longest = 0
    for part in sorted(parts, key=lambda run: int(tokens[run].max())):
        whole = max(longest, int(tokens[part].max())), len(batch) + len(part)
        if batch and not _fits(*whole, max_tokens, max_sentences):
            batches.append(np.array(batch))
            batch, longest = [], 0
        for place in part.tolist():  # a run that is larger than a batch is cut
            longer = max(longest, int(tokens[place]))
            if batch and not _fits(longer, len(batch) + 1, max_tokens, max_sentences):
                batches.append(np.array(batch))
                batch, longer = [], int(tokens[place])
            batch.append(place)
            longest = longer
    return batches + [np.array(batch)] if batch else batches


def _fits(longest: int, count: int, max_tokens: Optional[int], max_sentences: Optional[int]) -> bool:
    return not (max_tokens and longest * count > max_tokens or max_sentences and count > max_sentences)
