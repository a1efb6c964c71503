"""Hands the search few symbols of a large vocabulary, because no other can win."""

from typing import Any, Tuple

import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from torch import Tensor

from ctxmt_fairseq.tasks.search.beams import Ensemble

# With fewer symbols the search is as fast without.
_LEAST = 8000


class BestSymbols(BeamSearch):
    """fairseq's search over the special symbols and the best others of each hypothesis.

    A step chooses twice as many symbols as there are hypotheses in a beam, so that many others suffice. All
    that fairseq does before it chooses is about special symbols, once for each symbol that it is handed.
    """

    def __init__(self, dictionary: Dictionary, beam: int):
        super().__init__(dictionary)
        self.special = 1 + max(dictionary.bos(), dictionary.pad(), dictionary.eos(), dictionary.unk())
        self.others = 2 * beam
        self.symbols = torch.empty(0, 0, dtype=torch.long)  # (B * beam, others), behind the special ones

    def of(self, lprobs: Tensor) -> Tensor:
        """Log-probabilities of all symbols (B * beam, V) -> those that are handed to the search."""
        best, self.symbols = lprobs[:, self.special :].topk(self.others)
        return torch.cat([lprobs[:, : self.special], best], dim=1)

    def step(self, *args: Any, **kwargs: Any) -> Tuple[Tensor, Tensor, Tensor]:
        scores, found, beams = super().step(*args, **kwargs)
        behind = found - self.special
        places = (beams * self.others + behind).clamp_(min=0)
        symbols = self.symbols.view(len(found), -1).gather(1, places) + self.special
        return scores, torch.where(behind < 0, found, symbols), beams


def hand_best_symbols(generator: Any) -> None:
    """Have fairseq's plain beam search with one model choose from the best symbols alone."""
    vocabulary, ensemble = generator.tgt_dict, generator.model
    if (
        type(generator.search) is BeamSearch
        and isinstance(ensemble, Ensemble)
        and ensemble.models_size == 1
        and generator.repeat_ngram_blocker is None
        and len(vocabulary) >= _LEAST
    ):
        best = generator.search = BestSymbols(vocabulary, generator.beam_size)
        ensemble.handed = best.of
        generator.vocab_size = best.special + best.others
