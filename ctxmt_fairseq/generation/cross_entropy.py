"""Cross-entropies of single pairs of sentences, for models of different subwords to compare."""

from typing import List

import numpy as np

from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, TranslationScorer
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.languages import words_of


def length_of(text: str) -> int:
    """Count the words (``words_of``), and the sentence's end as one more."""
    return len(words_of(text)) + 1


def cross_entropies(
    loaded: LoadedModels, sources: List[str], targets: List[str], max_tokens: int = MAX_TOKENS
) -> np.ndarray:
    """Compute -log p(target | source) of N pairs, ``</s>`` included, in nats per word of the target
    (``length_of``): (N,); infinite where a sentence is longer than the models can read. Every pair is a
    document of its own, so no context is read."""
    source_tokens = [loaded.encode_source(text) for text in sources]
    target_tokens = [loaded.encode_target(text) for text in targets]
    lengths = zip(map(len, source_tokens), map(len, target_tokens), strict=True)
    most = loaded.limits
    fits = [number for number, (s, t) in enumerate(lengths) if s <= most[0] and t <= most[1]]
    found = np.full(len(sources), np.inf)
    if fits:
        scorer = TranslationScorer(
            [source_tokens[number] for number in fits],
            [target_tokens[number] for number in fits],
            Documents.from_lengths([1] * len(fits)),
            loaded.contexts_of([sources[number] for number in fits], [{}] * len(fits)),
            max_tokens=max_tokens,
        )
        scores = scorer.scores(loaded, progress=False)
        for number, tokens in zip(fits, scores, strict=True):
            found[number] = -tokens.current.sum() / length_of(targets[number])
    return found
