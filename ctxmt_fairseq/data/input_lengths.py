"""Which training examples have an input that is too long for each of its sentences."""

from typing import Optional

import numpy as np

from ctxmt_fairseq.data.windows import CHUNK, WindowBuilder, slot_tokens


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
        slots = builder.slots(lines, epoch)
        sentence = np.asarray(source_lengths)[lines]
        context = np.concatenate(
            [
                slot_tokens(slots.target_on_source, target_lengths),
                slot_tokens(slots.source_before, source_lengths),
                slot_tokens(slots.source_after, source_lengths),
            ],
            axis=1,
        )
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
