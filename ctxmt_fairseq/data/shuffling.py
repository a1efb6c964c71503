"""Shuffles the contexts of a set of sentences."""

from typing import Any, Optional

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.text.documents import Documents

_ROUNDS = 1000  # of exchanges; about one is enough if documents are small beside the set


class ShuffledContexts:
    """Permutes the contexts of a set's sentences (Voita et al. 2018, section 5.1: "the same test set with
    shuffled context sentences"), by a permutation that seed and epoch determine. Each context stays whole,
    and a sentence without context stays without."""

    def __init__(self, documents: Documents, options: Any, seed: int):
        self.documents = documents
        self.before = max(options.source_context, options.target_context, options.target_context_on_source)
        self.after = options.source_context_after
        self.seed = seed
        self._lines = np.arange(documents.sentences)
        self._epoch: Optional[int] = None
        self._sources = self._lines

    def among(self, lines: np.ndarray) -> None:
        """Permute the contexts of these sentences alone; the others keep their own."""
        self._lines, self._epoch = np.asarray(lines, np.int64), None
        self.sources(0)

    def sources(self, epoch: int) -> np.ndarray:
        """Tell whose context every sentence gets: (sentences,)."""
        if self._epoch != epoch:
            start, end = self.documents.bounds(self._lines)
            has_context = (self._lines > start) & (self.before > 0)
            has_context |= (self._lines + 1 < end) & (self.after > 0)
            lines = self._lines[has_context]
            generator = np.random.default_rng((randomness.RANDOM_CONTEXT, self.seed, epoch))
            self._sources = np.arange(self.documents.sentences)
            self._sources[lines] = shuffled_lines(lines, self.documents, self.before + self.after, generator)
            self._epoch = epoch
        return self._sources


def shuffled_lines(
    lines: np.ndarray, documents: Documents, reach: int, generator: np.random.Generator
) -> np.ndarray:
    """Draw a permutation of sentences that have context: ``lines[i]`` gets the context of the i-th, never its
    own, nor one that shares a sentence with it. ``reach`` is the distance from the farthest previous to the
    farthest following context sentence: lines of one document that are no farther apart share context, or are
    each other's context."""
    starts, _ = documents.bounds(lines)
    order = generator.permutation(len(lines))
    for _ in range(_ROUNDS):
        near = np.abs(lines - lines[order]) <= reach
        clashes = np.flatnonzero(near & (starts == starts[order]))
        if not len(clashes):
            return lines[order]
        partners = generator.integers(len(lines), size=len(clashes))
        for one, other in zip(clashes, partners, strict=True):
            order[[one, other]] = order[[other, one]]
    raise BadInput(
        f"--context-selection shuffled: {len(lines)} sentences with context, in {len(np.unique(starts))} "
        "documents, are too few to exchange their contexts; it needs more documents"
    )
