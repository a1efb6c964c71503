"""Conditional cross-mutual information: how much more probable context makes the references.

CXMI(C -> Y | X) = H(Y | X) - H(Y | X, C) in bits, estimated on a corpus, is positive where context helps
(Fernandes et al. 2021, Measuring and Increasing Context Usage in Context-Aware Machine Translation). Of a
word it is P-CXMI (Fernandes et al. 2023). Both entropies are the same model's, with context and without.
"""

from typing import List, NamedTuple, Sequence

import numpy as np

from ctxmt_fairseq.generation.forced_scoring import TokenScores


class Cxmi(NamedTuple):
    """Bits that context saves, divided by the whitespace words of the references, and by their sentences."""

    per_word: float
    per_sentence: float


def token_bits(with_context: Sequence[TokenScores], without: Sequence[TokenScores]) -> List[np.ndarray]:
    """log2 p(y | x, C) - log2 p(y | x) of every token y of N current sentences: (T,) each, ``</s>`` last."""
    return [
        (scores.current - alone.current) / np.log(2)
        for scores, alone in zip(with_context, without, strict=True)
    ]


def cxmi(bits: Sequence[np.ndarray], words: int) -> Cxmi:
    """Of a corpus.

    Args:
        bits: see ``token_bits``.
        words: whitespace words of the references.
    """
    total = float(sum(sentence.sum() for sentence in bits))
    return Cxmi(total / words, total / len(bits))
