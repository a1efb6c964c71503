"""Sorts examples, and cuts them into batches.

All is done with arrays that are as narrow as possible, because there can be tens of millions of examples.
"""

import itertools
from typing import List, Optional, Sequence, Tuple

import numpy as np
from fairseq.data import data_utils
from scipy.sparse import coo_array

CHUNK = 1 << 20  # examples that are sorted, or cut into batches, at once
LARGEST = 1023  # for ``winding``; longer windows are rare, and a worse order costs only pads


def by_size(sizes: Sequence[np.ndarray], rng: Optional[np.random.Generator] = None) -> np.ndarray:
    """Sort examples by sizes (n,), the first before the next: (n,) int32; ``rng`` shuffles equal ones."""
    order = np.arange(len(sizes[0]), dtype=np.int32)
    if rng is not None:
        rng.shuffle(order)
    for keys in reversed(sizes):
        order = _counting_sort(order, keys)
    return order


def winding(sizes: Sequence[np.ndarray]) -> List[np.ndarray]:
    """Change sizes, (n,) whole numbers from 0 to ``LARGEST``, so that ``by_size`` sorts to and fro: each size
    rises where the sum of those before it is even, and falls where it is odd. This gives fewer pads: a batch
    that begins among the longest contexts of one sentence length ends among the longest of the next one, not
    among its shortest."""
    turned, odd = [], np.zeros(len(sizes[0]), bool)
    for each in sizes:
        each = np.minimum(each, LARGEST).astype(np.int16)
        turned.append(np.where(odd, LARGEST - each, each))
        odd ^= (each & 1).astype(bool)
    return turned


def _counting_sort(order: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Sort a permutation (n,) by its ``keys[order]``; equal ones stay in their order."""
    chunks = range(0, len(order), CHUNK)
    bins = int(keys.max(initial=0)) + 1
    counts = sum(np.bincount(keys[at : at + CHUNK], minlength=bins) for at in chunks)
    free = np.cumsum(counts) - counts  # where the next example with each key goes
    result = np.empty_like(order)
    columns = np.arange(min(len(order), CHUNK), dtype=np.int32)
    for at in chunks:
        part = order[at : at + CHUNK]
        # A sparse matrix sorts its entries by rows, and each row by columns; it counts, as we would.
        entries = part, (_at(keys, part), columns[: len(part)])
        rows = coo_array(entries, shape=(bins, len(part))).tocsr()
        counts = np.diff(rows.indptr)
        for key in np.flatnonzero(counts):
            begin, count = rows.indptr[key], counts[key]
            result[free[key] : free[key] + count] = rows.data[begin : begin + count]
        free += counts
    return result


def _at(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    """``array[places]`` without checking every place, which takes half the time."""
    result = np.empty(len(places), array.dtype)
    for at in range(0, len(places), CHUNK):  # int32 places are copied to int64
        np.take(array, places[at : at + CHUNK], out=result[at : at + CHUNK], mode="clip")
    return result


class Batches:
    """Makes fairseq's batches, but keeps the last one whatever its size, so that no sentence is lost.

    An epoch shuffles examples of equal sizes, but the sizes have the same order as before, so batches are cut
    at the same places.
    """

    def __init__(self) -> None:
        self._sizes = np.empty(0, np.int32)
        self._limits: Tuple = ()
        self._begins = np.empty(0, np.int64)

    def __call__(
        self,
        indices: np.ndarray,
        tokens: np.ndarray,
        max_tokens: Optional[int],
        max_sentences: Optional[int],
        multiple: int = 1,
    ) -> List[np.ndarray]:
        """Cut (m,) examples in their order; ``tokens`` (n,) are the sizes of all, the rest is fairseq's."""
        sizes, limits = _at(tokens, indices), (max_tokens, max_sentences, multiple)
        if limits != self._limits or not np.array_equal(sizes, self._sizes):
            self._sizes, self._limits, self._begins = sizes, limits, _batch_begins(sizes, *limits)
        return slices(indices, self._begins)


def _batch_begins(
    sizes: np.ndarray, max_tokens: Optional[int], max_sentences: Optional[int], multiple: int
) -> np.ndarray:
    """Find the places (b,) in ``sizes`` (m,) where a batch begins."""
    begins = [np.empty(0, np.int64)]
    at, length = 0, CHUNK
    while at < len(sizes):
        part = sizes[at : at + length]
        batches = data_utils.batch_by_size(
            np.arange(at, at + len(part)),
            None,
            num_tokens_vec=part.astype(np.int64),
            max_tokens=max_tokens,
            max_sentences=max_sentences,
            required_batch_size_multiple=multiple,
        )
        first = np.array([batch[0] for batch in batches], np.int64)
        if at + len(part) == len(sizes):
            batched = sum(map(len, batches))
            rest = [at + batched] if batched < len(part) else []
            begins += [first, np.array(rest, np.int64)]
            break
        # The last batch could go on behind the part. The next part begins with it, because a batch does not
        # depend on those before it.
        if len(first) > 1:
            begins.append(first[:-1])
            at = int(first[-1])
        else:
            length *= 2
    return np.concatenate(begins)


def slices(indices: np.ndarray, begins: np.ndarray) -> List[np.ndarray]:
    """Cut ``indices`` (n,) at the places in ``begins``; the pieces are views."""
    places = [*begins.tolist(), len(indices)]
    return [indices[begin:end] for begin, end in itertools.pairwise(places)]
