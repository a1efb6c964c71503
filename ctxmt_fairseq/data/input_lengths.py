"""How long the inputs of windows are, sentence by sentence; which are too long, and how many are encoded."""

from typing import Any, Optional, Tuple

import numpy as np

from ctxmt_fairseq.data.windows import CHUNK, NO_SENTENCE, Slots, WindowBuilder, slot_tokens


def long_inputs(
    builder: WindowBuilder,
    indices: np.ndarray,
    limit: int,
    source_lengths: np.ndarray,
    target_lengths: Optional[np.ndarray] = None,
    epoch: int = 0,
    layout: str = "window",
    marks: int = 0,
) -> np.ndarray:
    """Which windows have an encoder input that is too long (the thesis, section 6.3.7): of more than
    ``limit`` tokens, or where an input joins sentences, ``limit`` times as many as it has room for.

    So a joined input may hold a longer sentence if another is shorter, or missing at the document's border.

    Args:
        indices: (n,) current sentences.
        limit: tokens of a sentence, ``</s>`` or separator included.
        source_lengths, target_lengths, epoch, layout, marks: as in ``WindowBuilder.sizes``.

    Returns:
        (n,) bool.
    """
    long = np.zeros(len(indices), bool)
    for at in range(0, len(indices), CHUNK):
        lines = indices[at : at + CHUNK]
        sentence = np.asarray(source_lengths)[lines]
        context = context_tokens(builder.slots(lines, epoch), source_lengths, target_lengths)
        room = limit * context.shape[1]
        if layout == "joined":
            context = context.sum(1, keepdims=True)
        context += marks * (context > 0)
        if layout == "window":
            exceeding = sentence + context.sum(1) > limit + room
        else:
            exceeding = sentence > limit
            if layout != "vectors":  # which are of whole texts
                exceeding |= (context > (room if layout == "joined" else limit)).any(1)
        long[at : at + CHUNK] = exceeding
    return long


def longest_contexts(
    builder: WindowBuilder,
    indices: np.ndarray,
    source_lengths: np.ndarray,
    target_lengths: Optional[np.ndarray] = None,
    epoch: int = 0,
    joined: bool = False,
    reach: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Tokens of the longest context input of each window: of its longest sentence, or of all ``joined``.

    Args:
        indices: (n,) current sentences.
        source_lengths, target_lengths, epoch: as in ``WindowBuilder.sizes``.
        reach: (n,) context farther than this is left out; None for none.

    Returns:
        (n,) int32, 0 without context.
    """
    longest = np.zeros(len(indices), np.int32)
    for at in range(0, len(indices), CHUNK):
        near = None if reach is None else reach[at : at + CHUNK]
        slots = builder.slots(indices[at : at + CHUNK], epoch, near)
        context = context_tokens(slots, source_lengths, target_lengths)
        longest[at : at + CHUNK] = context.sum(1) if joined else context.max(1, initial=0)
    return longest


def rows_to_encode(
    builder: WindowBuilder, indices: np.ndarray, epoch: int, reach: np.ndarray, reused: bool
) -> Tuple[np.ndarray, np.ndarray]:
    """How many context sentences a window adds to a batch that encodes each of its sentences once.

    A context sentence is known if it was context of the line before, or, if ``reused``, its current sentence.
    The empty sentence is one for each side. A few more are counted than there are where sampled sizes let
    context skip a line.

    Args:
        indices: (n,) current sentences, increasing.
        epoch: as in ``WindowBuilder.sizes``.
        reach: (n,) context farther than this is left out.
        reused: the states of current sentences are taken for those of the context, too.

    Returns:
        (n,) int32 each: beside the line before, and without it.
    """
    options = builder.options
    if options.context_selection == "empty":
        counts = options.source_context + options.source_context_after, options.target_context_on_source
        sides = sum(count > 0 for count in counts)
        return np.zeros(len(indices), np.int32), np.full(len(indices), sides, np.int32)
    beside, alone = np.empty((2, len(indices)), np.int32)
    for at in range(0, len(indices), CHUNK):
        before = min(at, 1)  # the line that the chunk's first one is compared with
        lines = indices[at - before : at + CHUNK]
        slots = builder.slots(lines, epoch, reach[at - before : at + CHUNK])
        previous, following = slots.source_before, slots.source_after
        context = np.concatenate([previous, following, slots.target_on_source], axis=1)
        count = (context != NO_SENTENCE).sum(1)
        new = _new(slots.target_on_source).sum(1)
        both_sides = bool(previous.shape[1] and following.shape[1])
        if reused or both_sides:
            # What stands before a line was current beside it: encoded if that is reused, or was context.
            middle = np.array(lines, np.int64)
            if not reused:
                known = np.append(False, following[:-1, 0] == lines[1:])
                middle[~known] = NO_SENTENCE
                count += known  # the next line takes it for granted
            new += _new(np.concatenate([previous, middle[:, None], following], axis=1)).sum(1) - int(reused)
        else:
            new += _new(previous).sum(1) + _new(following).sum(1)
        beside[at : at + CHUNK], alone[at : at + CHUNK] = new[before:], count[before:]
    return beside, alone


def _new(sentences: np.ndarray) -> np.ndarray:
    """Which of the sentences around a line, in their order, are not around the line before: (n, C) bool."""
    new = sentences != NO_SENTENCE
    new[1:, :-1] &= sentences[1:, :-1] != sentences[:-1, 1:]
    return new


def context_tokens(slots: Slots, source_lengths: Any, target_lengths: Optional[Any]) -> np.ndarray:
    """(n, C) tokens of the context sentences on the source side."""
    return np.concatenate(
        [
            slot_tokens(slots.target_on_source, target_lengths),
            slot_tokens(slots.source_before, source_lengths),
            slot_tokens(slots.source_after, source_lengths),
        ],
        axis=1,
    )
