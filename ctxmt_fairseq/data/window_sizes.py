"""Measures windows, and the encoders' inputs that they become, in arrays, chunk by chunk."""

from typing import Any, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE, NO_SENTENCE

CHUNK = 1 << 14  # so many sentences' slots are kept at once; they fit into the processor's cache


class Sizes(NamedTuple):
    """The sizes of n windows in tokens, separators and ``</s>`` included: (n,) int16 if all are sure to fit
    into it, else int32; and the distance of the farthest context sentence in each, (n,) int8."""

    source: np.ndarray
    target: np.ndarray
    reach: np.ndarray


class Chunk(NamedTuple):
    """n windows: their place among all, their lines, and (C, n) tokens of the context on either side."""

    place: slice
    lines: np.ndarray
    source: np.ndarray
    target: np.ndarray


class WindowSizes:
    """Measures windows around lines.

    Args:
        source, target: (S,) the tokens of each sentence, ``</s>`` included; target None: no target text.
        arrangement: how context and current sentence share the encoder's inputs: "window" (all in one),
            "joined" (the context in one, the current sentence in its own) or "rows" (each sentence in its
            own); "vectors": as "rows", and a context sentence counts as one token.
        marks: the number of tokens that are added to a context sentence; -1: no separator ends it.
    """

    def __init__(
        self,
        builder: WindowBuilder,
        source: np.ndarray,
        target: Optional[np.ndarray],
        arrangement: str = "window",
        marks: int = 0,
    ):
        self.builder, self.source, self.target = builder, source, target
        self.arrangement, self.marks = arrangement, marks

    def chunks(
        self, lines: np.ndarray, epoch: int = 0, reach: Optional[np.ndarray] = None
    ) -> Iterator[Chunk]:
        """Yield the windows around (n,) lines in chunks, without context that is farther than ``reach``."""
        vectors = None if self.arrangement == "vectors" else self.source
        columns = self.builder.source_columns
        for at in range(0, len(lines), CHUNK):
            place = slice(at, at + CHUNK)
            slots = self.builder.slots(lines[place], epoch, None if reach is None else reach[place])
            source = [
                _tokens(sentences, self.target if column.target else vectors)
                for column, sentences in zip(columns, slots.source.T, strict=True)
            ]
            target = [_tokens(sentences, self.target) for sentences in slots.target.T]
            none = np.empty((0, len(slots.source)), np.int32)
            sides = (np.stack(side) if side else none for side in (source, target))
            yield Chunk(place, lines[place], *sides)

    def sizes(
        self,
        lines: np.ndarray,
        epoch: int = 0,
        max_source: Optional[int] = None,
        max_target: Optional[int] = None,
    ) -> Sizes:
        """Measure windows, and how far their context may reach so that the model can hold them.

        Context is dropped on both sides at once, the farthest first, so that source and target windows stay
        aligned. The current sentence is never dropped. ``--window-tokens`` is a further limit, for the source
        window and for the target context, whose current sentence a translation does not know yet.

        Args:
            max_source, max_target: limits in tokens, of the encoder's inputs as ``arrangement`` has them.
        """
        sides = self.source, () if self.target is None else self.target
        longest = max(int(np.max(lengths, initial=1)) for lengths in sides) + abs(self.marks)
        columns = self.builder.source_columns, self.builder.target_columns
        kind = np.int16 if longest * (2 + sum(map(len, columns))) < 2**15 else np.int32
        sizes = Sizes(*(np.empty(len(lines), each) for each in (kind, kind, np.int8)))
        for chunk in self.chunks(lines, epoch):
            for array, values in zip(sizes, self._fitted(chunk, max_source, max_target), strict=True):
                array[chunk.place] = values
        return sizes

    def _fitted(self, chunk: Chunk, max_source: Optional[int], max_target: Optional[int]) -> Sizes:
        """The sizes of a chunk's windows, with the context that fits, from the nearest on."""
        columns = self.builder.source_columns, self.builder.target_columns
        distances = [[column.distance for column in side] for side in columns]
        source, target = self.current(chunk.lines)
        reach, fits = np.zeros(len(source), np.int8), np.ones(len(source), bool)
        budget, target_context = getattr(self.builder.options, "window_tokens", 0), np.zeros_like(target)
        inputs = chunk.source + self.marks * (chunk.source > 0) if self.marks else chunk.source
        own = source.copy() if self.arrangement == "joined" else 0  # in an input that has no context
        for distance in range(1, 1 + max([*distances[0], *distances[1]], default=0)):
            near, near_target = (
                [row for row, at in zip(tokens, side, strict=True) if at == distance]
                for tokens, side in zip((inputs, chunk.target), distances, strict=True)
            )
            more, more_target = sum(near), sum(near_target)
            if max_source is not None and self.arrangement in ("rows", "vectors"):
                for tokens in near:
                    fits &= tokens <= max_source
            elif max_source is not None:
                fits &= source - own + more <= max_source
            if max_target is not None:
                fits &= target + more_target <= max_target
            if budget:
                target_context += more_target
                fits &= np.maximum(source + more, target_context) <= budget
            source += np.where(fits, more, 0)
            target += np.where(fits, more_target, 0)
            reach[fits & ((more > 0) | (more_target > 0))] = distance
        return Sizes(source, target, reach)

    def current(self, lines: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """(n,) each: the source and target tokens of the current sentences, with room for the ``</s>`` that
        may be all of their context."""
        room = int(self.builder.ends_with_eos)
        source = np.asarray(self.source)[lines].astype(np.int32) + room
        if self.target is None:
            return source, np.zeros_like(source)
        return source, np.asarray(self.target)[lines].astype(np.int32) + room

    def long_inputs(
        self, lines: np.ndarray, limit: int, epoch: int = 0, reach: Optional[np.ndarray] = None
    ) -> np.ndarray:
        """Tell which windows have an encoder input that is too long (the thesis, section 6.3.7): (n,) bool.

        An input of one sentence may have ``limit`` tokens, one that joins sentences ``limit`` for each that
        it has room for. So a joined input may have a longer sentence if another is shorter, or missing at the
        document's border. Context that is farther than ``reach`` is none.
        """
        long = np.zeros(len(lines), bool)
        for chunk in self.chunks(lines, epoch, reach):
            sentence, context = np.asarray(self.source)[chunk.lines], chunk.source
            room = limit * len(context)
            if self.arrangement == "joined":
                context = context.sum(0, keepdims=True)
            context = context + self.marks * (context > 0)
            if self.arrangement == "window":
                long[chunk.place] = sentence + context.sum(0) > limit + room
                continue
            long[chunk.place] = sentence > limit
            if self.arrangement != "vectors":  # which are of whole texts
                most = room if self.arrangement == "joined" else limit
                long[chunk.place] |= (context > most).any(0)
        return long

    def longest_context(
        self, lines: np.ndarray, epoch: int = 0, reach: Optional[np.ndarray] = None
    ) -> np.ndarray:
        """The tokens of the longest context input of each window: (n,) int32, 0 without context."""
        longest = np.zeros(len(lines), np.int32)
        for chunk in self.chunks(lines, epoch, reach):
            joined = self.arrangement == "joined"
            longest[chunk.place] = chunk.source.sum(0) if joined else chunk.source.max(0, initial=0)
        return longest


def _tokens(sentences: np.ndarray, lengths: Optional[Any]) -> np.ndarray:
    """Tokens that context sentences (n,) add to a window: (n,) int32; each brings its own separator."""
    if lengths is None:  # a vector, or target text that is not known yet: what has been translated so far
        return (sentences != NO_SENTENCE).astype(np.int32)
    # A sentence's </s> becomes its separator, so its whole length counts. What is no index reads some entry,
    # which is not used.
    counted = np.asarray(lengths)[np.maximum(sentences, 0)].astype(np.int32)
    counted *= sentences >= 0
    counted += sentences == EMPTY_SENTENCE
    return counted
