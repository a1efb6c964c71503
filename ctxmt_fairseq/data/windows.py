"""Builds windows: tells which sentences are the context of the current one, by index arithmetic alone.

Windows are described by sentence indices, never by text, and many at once, so that the sizes of 42 million
windows take a few array operations (``window_sizes``).
"""

from typing import Any, Iterable, NamedTuple, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.data.context_options import Column, ContextOptions
from ctxmt_fairseq.data.shuffling import ShuffledContexts
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.text.documents import Documents


class Slots(NamedTuple):
    """The context sentences of n windows in the columns of either side: (n, C) and (n, M) sentence indices,
    or NO_SENTENCE, or EMPTY_SENTENCE."""

    source: np.ndarray
    target: np.ndarray


class WindowBuilder:
    """Builds the windows of a corpus; the seed is for random choices (sampled sizes, random context).

    Attributes:
        missing: what a slot has that the document has no sentence for, if the model can hold one.
        ends_with_eos: whether ``</s>`` ends the context of every window, an empty one, too.
        source_columns, target_columns: the places for context sentences on either side.
        variants: None, or blocks of documents that are variants of one document: they get the same random
            context, from another block.
    """

    def __init__(self, documents: Documents, options: ContextOptions, seed: int = 1):
        self.documents = documents
        self.options = options
        self.seed = seed
        self.source_columns, self.target_columns = options.columns
        self.variants: Optional[Documents] = None
        shuffled = options.context_selection == "shuffled"
        self.missing = EMPTY_SENTENCE if getattr(options, "missing_context", "") == "empty" else NO_SENTENCE
        self.ends_with_eos = getattr(options, "context_end", "") == "eos"
        self.shuffled = ShuffledContexts(documents, options, seed) if shuffled else None
        if options.context_selection == "random" and options.reach:
            check_several(documents)
        # The options do not check this, because the checkpoint, which may have source context, is read later.
        if options.context_selection == "reference" and not options.source_context:
            raise BadInput("--context-selection reference needs --source-context 1 or more, to replace it")

    @property
    def depends_on_epoch(self) -> bool:
        """Whether another epoch gives other windows."""
        return self.options.sample_context_size or self.options.context_selection in ("random", "shuffled")

    def slots(self, indices: np.ndarray, epoch: int = 0, reach: Optional[np.ndarray] = None) -> Slots:
        """Find the context sentences of the windows around the sentences ``indices`` (n,); context that is
        farther than ``reach`` (n,) becomes NO_SENTENCE."""
        indices = np.asarray(indices, np.int64)
        share = None
        if self.options.sample_context_size:
            share = randomness.uniform(randomness.CONTEXT_SIZE, self.seed, epoch, indices)
        if self.shuffled is not None:
            indices = self.shuffled.sources(epoch)[indices]
        start, end = self.documents.bounds(indices)

        def side(columns: Sequence[Column]) -> np.ndarray:
            # One row per column while computing, because long rows are fast.
            offsets = _rows(column.offset for column in columns)
            distances = _rows(column.distance for column in columns)
            sentences = indices + offsets
            present = (sentences >= start) & (sentences < end)
            if share is not None:
                roles = [column.role for column in columns]
                sizes = _rows(map(roles.count, roles))  # columns of the same text and direction
                present &= (distances <= np.floor(share * (sizes + 1))) | (offsets == 0)
            if self.options.context_selection == "empty":
                sentences = np.full_like(sentences, EMPTY_SENTENCE)
            elif self.options.context_selection == "random":
                sentences = self.elsewhere(indices, offsets, epoch)
            sentences = np.where(present, sentences, self.missing)
            return (sentences if reach is None else np.where(distances <= reach, sentences, NO_SENTENCE)).T

        return Slots(side(self.source_columns), side(self.target_columns))

    def elsewhere(self, indices: np.ndarray, offsets: Any, epoch: int) -> np.ndarray:
        """Draw a sentence of another document for each of n sentences; ``offsets`` are those of what it
        replaces: one number gives (n,), (d, 1) gives (d, n)."""
        start, end = (self.documents if self.variants is None else self.variants).bounds(indices)
        if self.variants is not None:
            indices = start
        own = end - start
        others = (self.documents.sentences - own).astype(np.uint64)
        draws = randomness.bits(randomness.RANDOM_CONTEXT, self.seed, epoch, indices, offsets + 1000)
        drawn = (draws % others).astype(np.int64)
        return np.where(drawn >= start, drawn + own, drawn)


def check_several(documents: Documents) -> None:
    """Refuse to draw random context from a single document."""
    if len(documents) < 2:
        raise BadInput("--context-selection random needs at least two documents to draw from")


def _rows(numbers: Iterable[int]) -> np.ndarray:
    """(m, 1) of m numbers."""
    return np.array([*numbers], np.int64).reshape(-1, 1)
