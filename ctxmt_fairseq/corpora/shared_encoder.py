"""An encoder of texts whose work several processes share: the first asks, the others serve it."""

from typing import Any, List

import numpy as np

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.corpora.store_writer import CHUNK

_NOTHING: List[List[str]] = []


class SharedEncoder:
    """Embeds texts chunk by chunk, each in one process, so that vectors are those of one process alone."""

    def __init__(self, encoder: Any):
        self.encoder, self.name, self.dimension = encoder, encoder.name, encoder.dimension

    def encode(self, texts: List[str]) -> np.ndarray:
        """Embed texts in all processes, of which the first calls this, the others ``serve``."""
        return self._encode(ranks.first_says([texts[at : at + CHUNK] for at in range(0, len(texts), CHUNK)]))

    def _encode(self, chunks: List[List[str]]) -> np.ndarray:
        own = range(ranks.number(), len(chunks), ranks.count())
        found = ranks.united({number: self.encoder.encode(chunks[number]) for number in own})
        return np.concatenate([found[number] for number in range(len(chunks))])

    def serve(self) -> None:
        """Embed until the first process calls ``end``."""
        while chunks := ranks.first_says(_NOTHING):
            self._encode(chunks)

    def end(self) -> None:
        ranks.first_says(_NOTHING)
