"""Conditional cross-mutual information (CXMI): how much more probable context makes the references.

CXMI(C -> Y | X) = H(Y | X) - H(Y | X, C) in bits, estimated on a corpus, is positive if context helps
(Fernandes et al. 2021, Measuring and Increasing Context Usage in Context-Aware Machine Translation). For a
single word it is called P-CXMI (Fernandes et al. 2023). One model gives both entropies, with context and
without.
"""

from typing import List, NamedTuple, Sequence

import numpy as np

from ctxmt_fairseq.generation.forced_scoring import TokenScores


class Cxmi(NamedTuple):
    """The bits that context saves for each white-space word of the references, and for each sentence."""

    per_word: float
    per_sentence: float


def token_bits(with_context: Sequence[TokenScores], without: Sequence[TokenScores]) -> List[np.ndarray]:
    """log2 p(y | x, C) - log2 p(y | x) of every token y of N sentences: N arrays (T,), ``</s>`` last."""
    return [
        (scores.current - alone.current) / np.log(2)
        for scores, alone in zip(with_context, without, strict=True)
    ]


def cxmi(bits: Sequence[np.ndarray], words: int) -> Cxmi:
    """CXMI of a corpus.

    Args:
        bits: see ``token_bits``.
        words: the number of white-space words in the references.
    """
    total = float(sum(sentence.sum() for sentence in bits))
    return Cxmi(total / words, total / len(bits))
