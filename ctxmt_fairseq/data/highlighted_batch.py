"""Puts highlights (``highlights``) into windows and batches of windows: which positions of an attention
should look at which."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch

from ctxmt_fairseq.text.highlights import LineHighlights, Sentence

SentenceStarts = Sequence[Tuple[Sentence, int]]  # the sentences of a window, and the first token of each


@dataclass(frozen=True)
class WindowHighlights:
    """A window's highlights by side, as places without pads: subwords of each word, and of the support."""

    words: Dict[str, List[np.ndarray]]
    support: Dict[str, np.ndarray]


def in_window(
    highlights: LineHighlights, starts: Dict[str, SentenceStarts], current: Dict[str, int]
) -> WindowHighlights:
    """Find a line's highlights in its window, without the support that is outside of it, from the ``starts``
    of each side's window and the first token of the ``current`` sentence there."""
    support = {}
    for side, sentences in starts.items():
        places = [first + highlights.support[name] for name, first in sentences if name in highlights.support]
        support[side] = np.concatenate([np.empty(0, np.int64), *places])
    words = {side: [current[side] + word for word in words] for side, words in highlights.words.items()}
    return WindowHighlights(words, support)


def highlight_batch(
    rows: Sequence[Optional[WindowHighlights]], starts: Dict[str, np.ndarray], widths: Dict[str, int]
) -> Dict[str, Dict[str, Any]]:
    """Tell what the attentions of a batch of B windows should look at.

    The decoder predicts a token where it reads the one before. So a word's queries are where its subwords are
    predicted, and its keys where subwords of the support have been read by then.

    Args:
        rows: the B windows' highlights; None: a window has none.
        starts: by side, (B,) the column of each window's first token.
        widths: by side, the number of the batch's columns.

    Returns:
        for each attention that has n queries, of ``encoder`` (self-attention: source words to source
        support), ``cross`` (target words to source support) and ``decoder`` (self-attention: target words to
        target support): ``rows`` and ``queries``, LongTensor (n,), the row and column of each query;
        ``subwords`` (n,), how many queries its word has; ``keys``, BoolTensor (n, width), what it should look
        at, at least one; and ``words``, how many words the queries are.
    """
    read = {"encoder": "source", "cross": "source", "decoder": "target"}
    found = {name: _Queries(widths[side]) for name, side in read.items()}
    for row, highlights in enumerate(rows):
        if highlights is None:
            continue
        source, target = (starts[side][row] for side in ("source", "target"))
        keys = source + highlights.support["source"]
        for word in highlights.words.get("source", ()):
            found["encoder"].add(row, source + word, [keys] * len(word))
        for word in highlights.words.get("target", ()):
            queries, behind = target + word, target + highlights.support["target"] + 1
            found["cross"].add(row, queries, [keys] * len(word))
            found["decoder"].add(row, queries, [behind[behind <= query] for query in queries])
    return {name: queries.tensors() for name, queries in found.items() if queries.words}


class _Queries:
    """The queries of one attention, word by word."""

    def __init__(self, width: int):
        self.width = width
        self.words = 0
        self.rows: List[int] = []
        self.queries: List[int] = []
        self.subwords: List[int] = []
        self.keys: List[np.ndarray] = []

    def add(self, row: int, queries: np.ndarray, keys: Sequence[np.ndarray]) -> None:
        """Add a word, without queries that have no keys."""
        pairs = [(int(query), seen) for query, seen in zip(queries, keys, strict=True) if len(seen)]
        for query, seen in pairs:
            mask = np.zeros(self.width, bool)
            mask[seen] = True
            self.rows.append(row)
            self.queries.append(query)
            self.subwords.append(len(pairs))
            self.keys.append(mask)
        self.words += bool(pairs)

    def tensors(self) -> Dict[str, Any]:
        numbers = {"rows": self.rows, "queries": self.queries, "subwords": self.subwords}
        return {
            **{name: torch.tensor(values) for name, values in numbers.items()},
            "keys": torch.from_numpy(np.stack(self.keys)),
            "words": self.words,
        }
