"""In which order examples are batched, and how batches are cut from runs of consecutive sentences."""

from typing import List, Optional, Sequence

import numpy as np

LARGEST = 1023  # of three sizes in one key; longer windows are rare, and their order costs only pads


def by_size(sizes: Sequence[np.ndarray], rng: Optional[np.random.Generator] = None) -> np.ndarray:
    """Examples by the first size, equal ones by the second, and so on; those of the same sizes as they stand,
    or in an order drawn from ``rng``.

    Args:
        sizes: one to three arrays (n,), in tokens or multiples of them; what is larger than a 32-bit number's
            share (65,535 for two, 1,023 for three) counts as that.

    Returns:
        (n,) int64.
    """
    # All sizes and the rank among equals in one number: sorting plain numbers is the fastest.
    count, bits = len(sizes[0]), 32 // len(sizes)
    keys = np.zeros(count, np.uint64)
    for each in sizes:
        keys <<= np.uint64(bits)
        keys |= np.clip(each, 0, 2**bits - 1).astype(np.uint32)
    keys <<= np.uint64(32)
    order = rank = np.arange(count, dtype=np.uint32)
    if rng is not None:
        order = rng.permutation(order)
        rank[order] = np.arange(count, dtype=np.uint32)
    keys |= rank
    keys.sort()
    keys &= np.uint64(2**32 - 1)
    return order[keys.view(np.int64)].astype(np.int64)


def winding(sizes: Sequence[np.ndarray]) -> List[np.ndarray]:
    """Sizes that ``by_size`` orders to and fro: each size rises where the sum of those before it is even, and
    falls where it is odd.

    A batch that begins among the longest contexts of one sentence length ends among the longest of the next
    one, not among its shortest: fewer pads.

    Args:
        sizes: arrays (n,) of whole numbers from 0 to ``LARGEST``, larger ones count as that.
    """
    turned, before = [], np.zeros(len(sizes[0]), np.int32)
    for each in sizes:
        each = np.minimum(each, LARGEST).astype(np.int32)
        turned.append(np.where(before & 1, LARGEST - each, each))
        before += each
    return turned


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
