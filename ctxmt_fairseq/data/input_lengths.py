"""How long the inputs of windows are, sentence by sentence; which are too long to train on."""

from typing import Any, Optional

import numpy as np

from ctxmt_fairseq.data.windows import CHUNK, Slots, WindowBuilder, slot_tokens


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
) -> np.ndarray:
    """Tokens of the longest context input of each window: of its longest sentence, or of all ``joined``.

    Args:
        indices: (n,) current sentences.
        source_lengths, target_lengths, epoch: as in ``WindowBuilder.sizes``.

    Returns:
        (n,) int32, 0 without context.
    """
    longest = np.zeros(len(indices), np.int32)
    for at in range(0, len(indices), CHUNK):
        slots = builder.slots(indices[at : at + CHUNK], epoch)
        context = context_tokens(slots, source_lengths, target_lengths)
        longest[at : at + CHUNK] = context.sum(1) if joined else context.max(1, initial=0)
    return longest


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
