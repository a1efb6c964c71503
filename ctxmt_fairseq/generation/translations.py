"""What a model says of sentences, for Python: translations and scores."""

from typing import List, NamedTuple

from ctxmt_fairseq.text.languages import joined_text


class Translation(NamedTuple):
    """A translation of a sentence.

    Attributes:
        text: the translation, with subwords and text steps undone.
        score: the log-probability (base e, ``</s>`` included) divided by length^lenpen, which ranks it.
    """

    text: str
    score: float


class Score(NamedTuple):
    """The log-probability (base e) of a given translation of a sentence in its context.

    Attributes:
        sum: the log-probability of the whole sentence, ``</s>`` included.
        tokens: the log-probability of each token (subword); the last one is ``</s>``.
    """

    sum: float
    tokens: List[float]


def joined(parts: List[List[Translation]]) -> List[Translation]:
    """The translations of a sentence that was split."""
    return [
        Translation(joined_text([part.text for part in each]), sum(part.score for part in each) / len(each))
        for each in zip(*parts, strict=False)
    ]
