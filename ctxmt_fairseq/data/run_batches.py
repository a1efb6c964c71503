"""Batches of runs of consecutive sentences, filled with what is encoded: each sentence of a batch once."""

from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.ordering import by_size, slices

_CHUNK = 65_536  # numbers of Python's at a time


class Inputs(NamedTuple):
    """What each of n examples brings to a batch: (n,) each, in the order of their lines.

    Attributes:
        source: tokens of the current sentence.
        context: tokens of the longest context sentence.
        target: tokens of the target side.
        rows: context sentences to encode if the line before is in the batch, too.
        alone: context sentences to encode if it is not.
    """

    source: np.ndarray
    context: np.ndarray
    target: np.ndarray
    rows: np.ndarray
    alone: np.ndarray


class Load(NamedTuple):
    """The inputs of a batch, or of each of many: the longest ones' tokens, and how many there are."""

    source: Any
    context: Any
    target: Any
    sentences: Any
    rows: Any


class Limits:
    """What a batch may hold, pads included; None or 0: no limit."""

    def __init__(self, max_tokens: Optional[int], max_sentences: Optional[int]):
        self.tokens, self.sentences = max_tokens or np.inf, max_sentences or np.inf

    def hold(self, source: Any, context: Any, target: Any, sentences: Any, rows: Any) -> Any:
        """Whether a ``Load``'s encoder inputs, and the decoder's, have no more tokens: bool, or (n,) bool."""
        encoded = source * sentences + context * rows
        return (encoded <= self.tokens) & (target * sentences <= self.tokens) & (sentences <= self.sentences)


def runs(lines: np.ndarray, documents: Documents, length: int, offset: int = 0) -> np.ndarray:
    """Where runs of at most ``length`` consecutive lines of one document begin: places in ``lines``, (r,).

    Args:
        lines: (n,) increasing line numbers.
        offset: the first run of a document is shorter by this much, so that epochs can cut differently.
    """
    starts = documents.starts[:-1]
    counts = (np.diff(documents.starts) - 1 + offset) // length + 1
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    firsts = np.repeat(starts, counts) + np.maximum(number * length - offset, 0)
    gaps = np.flatnonzero(np.diff(lines) != 1) + 1
    begins = np.union1d(np.searchsorted(lines, firsts), gaps)
    return begins[begins < len(lines)]


def batches_of_runs(
    begins: np.ndarray,
    inputs: Inputs,
    max_tokens: Optional[int],
    max_sentences: Optional[int],
    rng: Optional[np.random.Generator] = None,
) -> List[np.ndarray]:
    """Runs with sentences of similar length together, each whole where the limits allow it.

    An example that is beyond them by itself is a batch. Without ``rng``, runs of equal size stand as given:
    the neighbours of one document in one batch.

    Args:
        begins: (r,) the place where each run begins.
        inputs: of the example at each place.
        max_tokens: limit for the tokens to encode, and for those of the target side; None or 0 for none.
        max_sentences: limit for the number of examples; None or 0 for none.
        rng: draws the order of runs of equal size.

    Returns:
        the places of each batch's examples.
    """
    limits, n = Limits(max_tokens, max_sentences), len(inputs.source)
    longest = np.maximum.reduce([inputs.source, inputs.context, inputs.target])
    order = by_size([np.maximum.reduceat(longest, begins)], rng)
    counts = np.diff(begins, append=n)[order]
    firsts = np.cumsum(counts) - counts
    places = np.repeat(begins[order] - firsts, counts) + np.arange(n)
    inputs = Inputs(*(array[places] for array in inputs))

    large = ~limits.hold(*_loads(inputs, firsts))
    pieces = np.union1d(firsts, _cuts(firsts[large], counts[large], inputs, limits))
    apart = large[np.searchsorted(firsts, pieces, side="right") - 1]
    batches: List[int] = []
    source = context = target = sentences = rows = 0  # a ``Load``, whose making would take most of the time
    for begin, alone, *piece in _numbers(pieces, apart, *_loads(inputs, pieces)):
        *longest, more_sentences, more_rows = piece
        both = [*map(max, (source, context, target), longest), sentences + more_sentences, rows + more_rows]
        if alone or not sentences or not limits.hold(*both):
            batches.append(begin)
            both = piece
        source, context, target, sentences, rows = both
    return slices(places, np.array(batches, np.int64))


def _numbers(*arrays: np.ndarray) -> Iterator[Tuple[int, ...]]:
    """The numbers at each place of arrays of equal length, which are not all made at once."""
    for at in range(0, len(arrays[0]), _CHUNK):
        yield from zip(*(array[at : at + _CHUNK].tolist() for array in arrays), strict=True)


def _loads(inputs: Inputs, begins: np.ndarray) -> Load:
    """Of the examples from each place in ``begins`` (b,) to the next: (b,) each."""
    rows = inputs.rows.copy()
    rows[begins] = inputs.alone[begins]
    longest = (np.maximum.reduceat(array, begins) for array in inputs[:3])
    counts = np.diff(begins, append=len(rows)), np.add.reduceat(rows, begins, dtype=np.int64)
    return Load._make([*longest, *counts])


def _cuts(begins: np.ndarray, counts: np.ndarray, inputs: Inputs, limits: Limits) -> np.ndarray:
    """Where runs that are larger than a batch are cut: all of them example by example, side by side.

    Args:
        begins, counts: (r,) of the runs, in ``inputs``.

    Returns:
        the places where another batch begins, in no order.
    """
    cuts = [np.empty(0, np.int64)]
    batch = Load(*np.zeros((5, len(begins)), np.int64))
    for step in range(int(counts.max(initial=0))):
        inside = step < counts
        begins, counts = begins[inside], counts[inside]
        batch = Load(*(array[inside] for array in batch))
        source, context, target, rows, alone = (array[begins + step] for array in inputs)
        anew = Load(source, context, target, np.ones_like(source), alone)
        longer = Load(
            np.maximum(batch.source, source),
            np.maximum(batch.context, context),
            np.maximum(batch.target, target),
            batch.sentences + 1,
            batch.rows + rows,
        )
        full = (batch.sentences > 0) & ~limits.hold(*longer)
        first = full | (batch.sentences == 0)
        cuts.append(begins[full] + step)
        batch = Load(*(np.where(first, fresh, array) for fresh, array in zip(anew, longer, strict=True)))
    return np.concatenate(cuts)
