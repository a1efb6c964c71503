"""Shares the encoder's projections between the hypotheses of one sentence."""

import contextlib
from typing import Iterator, Sequence

from fairseq.sequence_generator import EnsembleModel
from torch import nn


@contextlib.contextmanager
def beams(models: Sequence[nn.Module], size: int) -> Iterator[None]:
    """Tell encoders and decoders that each ``size`` rows that follow each other are of the same sentence.

    fairseq's attention then projects and keeps source and context states once for those rows. fairseq's own
    models never tell it the number.
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


class Ensemble(EnsembleModel):
    """fairseq's, but what it tells a model of a beam's rows holds in the search alone (``beams``).

    Some models, such as BART, are told when a generator is made, and then take the first sentence's states
    for as many rows as a beam has, whatever they are asked later.
    """

    def set_decoder_beam_size(self, beam_size: int) -> None:
        pass
