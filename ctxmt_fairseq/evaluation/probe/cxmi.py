"""Conditional cross-mutual information (CXMI): how much more probable context makes the references.

CXMI(C -> Y | X) = H(Y | X) - H(Y | X, C), estimated on a corpus, is positive if context helps (Fernandes et
al. 2021, "Measuring and Increasing Context Usage in Context-Aware Machine Translation"). For a single word it
is called P-CXMI (Fernandes et al. 2023). One model gives both entropies, with context and without.

It has four scales. Ours is bits for each word of the corpus. The paper's is the mean over sentences of
ln p(y | x, C) - ln p(y | x), in nats for each sentence. Its authors' program (contextual_mt/docmt_cxmi.py)
divides each sentence's by its number of tokens first, because that is the score of fairseq's SequenceScorer:
nats for each token, every sentence with the same weight.
"""

import math
from typing import List, NamedTuple, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.forced_scoring import TokenScores


class Cxmi(NamedTuple):
    """What context saves: bits for each white-space word of the references (``cxmi``), and for each sentence;
    and the mean over sentences of nats for each token, ``</s>`` included."""

    cxmi: float
    bits_per_sentence: float
    nats_per_sentence: float
    nats_per_token: float


def token_bits(with_context: Sequence[TokenScores], without: Sequence[TokenScores]) -> List[np.ndarray]:
    """log2 p(y | x, C) - log2 p(y | x) of every token y of N sentences: N arrays (T,), ``</s>`` last."""
    pairs = zip(with_context, without, strict=True)
    bits = [(scores.current - alone.current) / np.log(2) for scores, alone in pairs]
    if not all(np.isfinite(each).all() for each in bits):
        raise BadInput("CXMI: the model gives probabilities that are not numbers")
    return bits


def cxmi(bits: Sequence[np.ndarray], words: int) -> Cxmi:
    """CXMI of a corpus, from the ``token_bits`` of its references, which have so many white-space words."""
    total = float(sum(sentence.sum() for sentence in bits))
    means = [float(sentence.mean()) for sentence in bits]
    of_sentence, of_token = total / len(bits), sum(means) / len(means)
    return Cxmi(total / words, of_sentence, math.log(2) * of_sentence, math.log(2) * of_token)
