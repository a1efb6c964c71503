"""One projection of what all hypotheses of a sentence attend to."""

import contextlib
from typing import Iterator, Sequence

from torch import nn


@contextlib.contextmanager
def beams(models: Sequence[nn.Module], size: int) -> Iterator[None]:
    """Tell encoders and decoders that ``size`` rows in turn continue the same sentence.

    fairseq's attention then projects and keeps source and context states once for those rows; its own models
    never pass the number on.
    """
    parts = [part for model in models for part in model.children() if hasattr(part, "set_beam_size")]
    before = [getattr(part, "_beam_size", 1) for part in parts]  # fairseq's name
    for part in parts:
        part.set_beam_size(size)
    try:
        yield
    finally:
        for part, number in zip(parts, before, strict=True):
            part.set_beam_size(number)
