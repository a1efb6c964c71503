"""Shares the encoder's projections between the hypotheses of one sentence."""

import contextlib
from typing import Any, Iterator, List, Optional, Sequence

import torch
from fairseq.sequence_generator import EnsembleModel
from torch import nn

from ctxmt_fairseq.tasks.search.step_attention import Steps


@contextlib.contextmanager
def beams(models: Sequence[nn.Module], size: int) -> Iterator[None]:
    """Tell decoders that each ``size`` rows that follow each other are of the same sentence.

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
    """fairseq's, whose attentions keep what the hypotheses of a sentence share once (``Steps``).

    What fairseq tells a model of a beam's rows when a generator is made holds here in the search alone
    (``beams``): some models, such as BART, would then take the first sentence's states for as many rows as a
    beam has, whatever they are asked later.

    A model of windows may have seen the first sentence of a document as context alone. It ends that with a
    separator, and goes on, often with the same sentence again. So a single sentence ends with ``end``,
    ``</s>``, or with ``separator``, whichever is likelier; None: with ``</s>`` alone.
    """

    beam_size = 1
    rows = 0  # hypotheses in the search
    handed: Any = None  # gives what the search is handed of log-probabilities (B * beam, V); None: all
    separator: Optional[int] = None
    end = 0

    def set_decoder_beam_size(self, beam_size: int) -> None:
        self.beam_size = beam_size

    def forward_encoder(self, net_input):
        self.rows = 0
        return super().forward_encoder(net_input)

    def first_steps(self, encoder_outs: List[Any], incremental_states: List[Any], device: Any) -> List[Steps]:
        """Begin a search with each model."""
        none = torch.empty(self.rows // self.beam_size, 0, dtype=torch.bool, device=device)
        return [Steps(model.decoder, self.beam_size, none, {}) for model in self.models]

    def forward_decoder(self, tokens, encoder_outs, incremental_states, temperature: float = 1.0):
        step = tokens.size(1) - 1
        if not step:
            self.rows = len(tokens)
            self.steps = self.first_steps(encoder_outs, incremental_states, tokens.device)
        with contextlib.ExitStack() as stack:
            for steps in self.steps:
                stack.enter_context(steps.step())
            tokens = self.history(tokens)
            lprobs, attention = super().forward_decoder(tokens, encoder_outs, incremental_states, temperature)
        if self.separator is not None:
            ends = torch.maximum(lprobs[:, self.separator], lprobs[:, self.end])
            lprobs[:, self.separator] = -torch.inf
            lprobs[:, self.end] = ends
        lprobs = self.ended(lprobs, step)
        return (self.handed(lprobs) if self.handed else lprobs), attention

    def ended(self, lprobs: torch.Tensor, step: int) -> torch.Tensor:
        """Let nothing but ``</s>`` follow hypotheses that have no room for more."""
        return lprobs

    def history(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return what the hypotheses (B * beam, t) continue, and they."""
        return tokens

    def reorder_incremental_state(self, incremental_states, new_order) -> None:
        if any(incremental_states):
            super().reorder_incremental_state(incremental_states, new_order)
        for steps in self.steps:
            steps.reorder(new_order)

    def reorder_encoder_out(self, encoder_outs, new_order):
        """As long as no sentence leaves, rows change places only with those of the same sentence, and all of
        these have the same states."""
        if len(new_order) == self.rows:
            return encoder_outs
        self.rows = len(new_order)
        return super().reorder_encoder_out(encoder_outs, new_order)
