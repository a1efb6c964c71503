"""Where the window is built: which sentences stand beside the current one. Pure index arithmetic.

A window is described by sentence indices, never by text, and for many sentences at once, so that the sizes
of 42 million windows cost a few array operations. The order on the source side is: target context, previous
source context, current sentence, following source context; on the target side: previous targets, current.
"""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Optional

import numpy as np

from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.data.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.shuffling import ShuffledContexts
from ctxmt_fairseq.errors import BadInput

PREVIOUS_SOURCE, FOLLOWING_SOURCE, TARGET = range(3)  # what a context sentence can be, its role
SELECTIONS = ("document", "random", "shuffled", "empty", "absent", "reference", "swapped")
CHUNK = 1 << 14  # sentences whose slots are held at once: they fit into the processor's cache


@dataclass(frozen=True)
class ContextOptions:
    """How much context a window has, and from where: the tasks' options of the same names.

    Attributes:
        source_context: previous source sentences.
        source_context_after: following source sentences.
        target_context: previous target sentences, on the target side.
        target_context_on_source: previous target sentences, on the source side.
        context_selection: one of ``SELECTIONS``.
        sample_context_size: draw each example's sizes from 0 to the above, the same share of each.
    """

    source_context: int = 0
    source_context_after: int = 0
    target_context: int = 0
    target_context_on_source: int = 0
    context_selection: str = "document"
    sample_context_size: bool = False

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            option = "--" + field.name.replace("_", "-")
            if field.type is int and not 0 <= value <= 100:
                raise BadInput(f"{option} {value}: expected a number of sentences from 0 to 100")
        if self.context_selection not in SELECTIONS:
            raise BadInput(
                f"--context-selection {self.context_selection}: expected one of {', '.join(SELECTIONS)}"
            )

    @property
    def reach(self) -> int:
        """The largest distance of a context sentence from the current one."""
        return max(
            self.source_context,
            self.source_context_after,
            self.target_context,
            self.target_context_on_source,
        )

    @property
    def target_text_on_source(self) -> bool:
        """Whether source and target text meet in one encoder, which needs a joint dictionary."""
        return self.target_context_on_source > 0 or self.context_selection in ("reference", "swapped")


class Slots(NamedTuple):
    """Context sentences of n windows: sentence indices, or NO_SENTENCE, or EMPTY_SENTENCE.

    Attributes:
        target_on_source: (n, T), farthest first: target sentences on the source side.
        source_before: (n, N), farthest first.
        source_after: (n, A), nearest first.
        target_before: (n, M), farthest first.
    """

    target_on_source: np.ndarray
    source_before: np.ndarray
    source_after: np.ndarray
    target_before: np.ndarray


class Sizes(NamedTuple):
    """Sizes of n windows in tokens, separators and ``</s>`` included.

    Attributes:
        source: (n,) int16 if all windows are sure to fit into it, else int32.
        target: the same.
        reach: (n,) int8, the distance of the farthest context sentence in the window.
    """

    source: np.ndarray
    target: np.ndarray
    reach: np.ndarray


class WindowBuilder:
    """Builds the windows of a corpus.

    Args:
        documents: the boundaries; context never crosses one.
        options: sizes and selection.
        seed: of the random choices (sampled sizes, random context).

    Attributes:
        variants: None, or blocks of documents that are variants of one: they get the same random context, of
            another block.

    Raises:
        BadInput: random context asked for, but there is only one document to draw from; the reference asked
            for, but no source context whose place it could take.
    """

    def __init__(self, documents: Documents, options: ContextOptions, seed: int = 1):
        self.documents = documents
        self.options = options
        self.seed = seed
        self.variants: Optional[Documents] = None
        shuffled = options.context_selection == "shuffled"
        self.shuffled = ShuffledContexts(documents, options, seed) if shuffled else None
        if options.context_selection == "random" and options.reach and len(documents) < 2:
            raise BadInput("--context-selection random: expected at least two documents to draw from")
        # Not when the options are made: the checkpoint, which may have the source context, is read later.
        if options.context_selection == "reference" and not options.source_context:
            raise BadInput("--context-selection reference: expected --source-context 1 or more to replace")

    @property
    def depends_on_epoch(self) -> bool:
        """Whether another epoch gives other windows."""
        return self.options.sample_context_size or self.options.context_selection in ("random", "shuffled")

    def slots(self, indices: np.ndarray, epoch: int = 0, reach: Optional[np.ndarray] = None) -> Slots:
        """The context sentences of the windows around ``indices`` (n,).

        Args:
            indices: current sentences.
            epoch: of the random choices.
            reach: (n,) context farther than this is NO_SENTENCE; None for no limit.
        """
        options = self.options
        indices = np.asarray(indices, np.int64)
        share = None
        if options.sample_context_size:
            share = randomness.uniform(randomness.CONTEXT_SIZE, self.seed, epoch, indices)
        if self.shuffled is not None:
            indices = self.shuffled.sources(epoch)[indices]
        start, end = self.documents.bounds(indices)

        def role(size: int, step: int) -> np.ndarray:
            if options.context_selection == "absent":
                size = 0
            # One row per distance while computing: long rows are fast.
            distances = (np.arange(size, 0, -1) if step < 0 else np.arange(1, size + 1))[:, None]
            sentences = indices + step * distances
            present = (sentences >= start) & (sentences < end)
            if share is not None:
                present &= distances <= np.floor(share * (size + 1))
            if reach is not None:
                present &= distances <= reach
            if options.context_selection == "empty":
                sentences = np.full_like(sentences, EMPTY_SENTENCE)
            elif options.context_selection == "random":
                sentences = self.elsewhere(indices, step * distances, epoch)
            return np.where(present, sentences, NO_SENTENCE).T

        slots = Slots(
            target_on_source=role(options.target_context_on_source, -1),
            source_before=role(options.source_context, -1),
            source_after=role(options.source_context_after, +1),
            target_before=role(options.target_context, -1),
        )
        if options.context_selection != "reference":
            return slots
        # A sanity check: the translation itself is all the source context there is.
        reference = indices if reach is None else np.where(reach > 0, indices, NO_SENTENCE)
        nothing = np.empty((len(indices), 0), np.int64)
        return slots._replace(
            target_on_source=reference[:, None], source_before=nothing, source_after=nothing
        )

    def elsewhere(self, indices: np.ndarray, offsets: Any, epoch: int) -> np.ndarray:
        """A random sentence of another document for each of n sentences.

        Args:
            indices: (n,) sentences.
            offsets: what the sentence stands for, as a distance: one number gives (n,), (d, 1) gives (d, n).
            epoch: of the random choice.
        """
        start, end = (self.documents if self.variants is None else self.variants).bounds(indices)
        if self.variants is not None:
            indices = start
        own = end - start
        others = (self.documents.sentences - own).astype(np.uint64)
        draws = randomness.bits(randomness.RANDOM_CONTEXT, self.seed, epoch, indices, offsets + 1000)
        drawn = (draws % others).astype(np.int64)
        return np.where(drawn >= start, drawn + own, drawn)

    def sizes(
        self,
        indices: np.ndarray,
        source_lengths: np.ndarray,
        target_lengths: Optional[np.ndarray] = None,
        epoch: int = 0,
        max_source: Optional[int] = None,
        max_target: Optional[int] = None,
        layout: str = "window",
        marks: int = 0,
    ) -> Sizes:
        """Window sizes, and how far the context may reach for the window to fit the model.

        Context is dropped by distance on both sides at once, the farthest first, so that source and target
        windows stay aligned. The current sentence is never dropped.

        Args:
            indices: (n,) current sentences.
            source_lengths: (S,) tokens of each source sentence, ``</s>`` included.
            target_lengths: the same of the target sentences; None when there is no target text.
            max_source, max_target: limits in tokens; None for no limit.
            layout: what the source limit holds for: "window" (context and current sentence together),
                "joined" (the context together, the current sentence apart) or "rows" (each sentence);
                "vectors": as "rows", and a context sentence counts as one token.
            marks: tokens that are added to a context sentence; -1: there is no separator to end it.
        """
        limits = max_source, max_target, layout, marks
        options, sides = self.options, [source_lengths, () if target_lengths is None else target_lengths]
        longest = max(int(np.max(lengths, initial=1)) for lengths in sides) + abs(marks)
        most = longest * (1 + options.source_context + options.source_context_after)
        most += longest * (1 + options.target_context + options.target_context_on_source)
        kind = np.int16 if most < 2**15 else np.int32
        sizes = Sizes(*(np.empty(len(indices), kind) for kind in (kind, kind, np.int8)))
        for at in range(0, len(indices), CHUNK):
            part = indices[at : at + CHUNK]
            measured = self._sizes(part, source_lengths, target_lengths, epoch, *limits)
            for array, values in zip(sizes, measured, strict=True):
                array[at : at + CHUNK] = values
        return sizes

    def _sizes(
        self, indices, source_lengths, target_lengths, epoch, max_source, max_target, layout, marks
    ) -> Sizes:
        slots = self.slots(indices, epoch)
        source = np.asarray(source_lengths)[indices].astype(np.int32)
        apart = source.copy() if layout == "joined" else 0
        context_lengths = None if layout == "vectors" else source_lengths
        target = np.zeros_like(source)
        if target_lengths is not None:
            target = np.asarray(target_lengths)[indices].astype(np.int32)
        reach = np.zeros(len(indices), np.int8)
        fits = np.ones(len(indices), bool)
        for distance in range(1, max(slot.shape[1] for slot in slots) + 1):
            context = (
                slot_tokens(_at(slots.target_on_source, -distance), target_lengths),
                slot_tokens(_at(slots.source_before, -distance), context_lengths),
                slot_tokens(_at(slots.source_after, distance - 1), context_lengths),
            )
            more_source = sum(context)
            if marks:
                more_source = more_source + marks * sum(np.asarray(tokens) > 0 for tokens in context)
            more_target = slot_tokens(_at(slots.target_before, -distance), target_lengths)
            if max_source is not None:
                if layout in ("rows", "vectors"):
                    for tokens in context:
                        fits &= np.asarray(tokens) + marks <= max_source
                else:
                    fits &= source - apart + more_source <= max_source
            if max_target is not None:
                fits &= target + more_target <= max_target
            source += np.where(fits, more_source, 0)
            target += np.where(fits, more_target, 0)
            reach[fits & ((more_source > 0) | (more_target > 0))] = distance
        return Sizes(source, target, reach)


def _at(slots: np.ndarray, column: int) -> Optional[np.ndarray]:
    """One column, or None where the matrix is narrower than that."""
    width = slots.shape[1]
    return slots[:, column] if -width <= column < width else None


def slot_tokens(sentences: Optional[np.ndarray], lengths: Optional[np.ndarray]):
    """Tokens that the sentences of one slot add to a window; each brings its own separator."""
    if sentences is None:
        return 0
    if (
        lengths is None
    ):  # a vector, or target text that is not known yet: the translation of what comes before
        return (sentences != NO_SENTENCE).astype(np.int32)
    # A sentence's </s> becomes its separator, so its length counts whole; what is no index reads any entry.
    counted = np.asarray(lengths)[np.maximum(sentences, 0)].astype(np.int32)
    counted *= sentences >= 0
    counted += sentences == EMPTY_SENTENCE
    return counted
