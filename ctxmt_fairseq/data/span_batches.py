"""Makes batches of spans: consecutive sentences share their context, so each sentence is encoded once."""

from typing import Any, List, NamedTuple, Optional

import numpy as np

from ctxmt_fairseq.data.ordering import by_size, slices
from ctxmt_fairseq.text.documents import Documents

CHUNK = 1 << 13  # so many spans' sentences are counted at once; they fit into the processor's cache


class Inputs(NamedTuple):
    """What each of n examples adds to a batch, in the order of their lines.

    Attributes:
        source, context, target: (n,) tokens of the current sentence, its longest context sentence and target.
        names: (n, C) which sentences the encoders read, as numbers from 0, or -1; a span reads equal ones
            once.
        reused: whether the first of the names is the current sentence, which is encoded already.
    """

    source: np.ndarray
    context: np.ndarray
    target: np.ndarray
    names: np.ndarray
    reused: bool = False

    def loads(self, begins: np.ndarray) -> np.ndarray:
        """Give, for the examples from each place in ``begins`` (b,) to the next, (5, b): the longest source,
        context and target, and the number of sentences and context rows."""
        counts = np.diff(begins, append=len(self.source))
        chunks = (slice(at, at + CHUNK) for at in range(0, max(len(begins), 1), CHUNK))
        rows = [self._rows(begins[chunk], counts[chunk]) for chunk in chunks]
        longest = [np.maximum.reduceat(side, begins).astype(np.int64) for side in self[:3]]
        return np.stack([*longest, counts, np.concatenate(rows)])

    def _rows(self, begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
        names = self.names[begins[0] : begins[0] + counts.sum()].astype(np.int64)
        most = names.max(initial=0) + 1
        keys = np.repeat(np.arange(len(begins)), counts)[:, None] * most + names
        distinct = np.unique(keys[names >= 0]) // most
        return np.bincount(distinct, minlength=len(begins)) - (counts if self.reused else 0)


def span_begins(lines: np.ndarray, documents: Documents, length: int, offset: int = 0) -> np.ndarray:
    """Find where spans of at most ``length`` consecutive lines of one document begin: places in ``lines``,
    (s,). The first span of a document is shorter by ``offset``, so that epochs can cut differently."""
    starts = documents.starts[:-1]
    counts = (np.diff(documents.starts) - 1 + offset) // length + 1
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    firsts = np.repeat(starts, counts) + np.maximum(number * length - offset, 0)
    gaps = np.flatnonzero(np.diff(lines) != 1) + 1
    begins = np.union1d(np.searchsorted(lines, firsts), gaps)
    return begins[begins < len(lines)]


def batches_of_spans(
    begins: np.ndarray,
    inputs: Inputs,
    max_tokens: Optional[int],
    max_sentences: Optional[int],
    rng: Optional[np.random.Generator] = None,
) -> List[np.ndarray]:
    """Put spans with sentences of similar length together, each whole if the limits allow it, else in halves:
    the places of each batch's examples. An example that alone exceeds the limits (of tokens to encode and of
    the target side, or of examples; None or 0: no limit) is a batch. Without ``rng`` spans of equal size stay
    in their order, so neighbours of one document are in one batch."""
    limit, most = max_tokens or np.inf, max_sentences or np.inf

    def fits(source: Any, context: Any, target: Any, sentences: Any, rows: Any) -> Any:
        encoded = source * sentences + context * rows
        return (encoded <= limit) & (target * sentences <= limit) & (sentences <= most)

    while True:
        loads = inputs.loads(begins)
        large = ~fits(*loads) & (loads[3] > 1)
        if not large.any():
            break
        begins = np.union1d(begins, begins[large] + loads[3][large] // 2)
    pieces = slices(np.arange(len(inputs.source)), begins)
    batches: List[List[np.ndarray]] = []
    source = context = target = sentences = rows = 0
    order = by_size([loads[:3].max(0).astype(np.int32)], rng)
    for part in np.array_split(order, len(order) // CHUNK + 1):
        for number, *own in zip(part.tolist(), *loads[:, part].tolist(), strict=True):
            longest = map(max, (source, context, target), own)
            both = [*longest, sentences + own[3], rows + own[4]]
            if not batches or not fits(*both):
                batches.append([])
                both = own
            batches[-1].append(pieces[number])
            source, context, target, sentences, rows = both
    return [np.concatenate(batch) for batch in batches]
