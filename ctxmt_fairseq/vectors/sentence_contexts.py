"""The contexts of sentences, as rows of a matrix of distinct vectors."""

from dataclasses import dataclass
from functools import partial
from typing import Callable, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.text.absence import EMPTY_TEXT, NO_TEXT
from ctxmt_fairseq.text.metadata_text import metadata_text
from ctxmt_fairseq.text.text_lines import tidy
from ctxmt_fairseq.vectors.text_encoders import TextEncoder


@dataclass(frozen=True)
class SentenceContexts:
    """The contexts of n sentences.

    Attributes:
        vectors: (N, R) one row for each distinct text, an array or a memory map; float32 or float16.
        sentences: (n,) int, the row of each source sentence; -1: sentences were not embedded.
        metadata: (n, F) int, the rows of its metadata; -1: a field is missing or says nothing.
        fields: F names.
        empty: the row of the empty text.
        texts: gives the texts of rows.
    """

    vectors: np.ndarray
    sentences: np.ndarray
    metadata: np.ndarray
    fields: Tuple[str, ...]
    empty: int
    texts: Callable[[Sequence[int]], List[str]]


def contexts_of(
    encoder: TextEncoder, sentences: Sequence[str], metadata: Sequence[Mapping[str, str]]
) -> SentenceContexts:
    """Embed the contexts of new text, each distinct text once, in memory; row 0 is the empty text. Each
    sentence has metadata, field -> value; a value under the field "" is embedded as it is. The fields of the
    result are those that occur, in the order of their first occurrence."""
    if len(metadata) != len(sentences):
        raise ValueError(f"{len(sentences)} sentences, {len(metadata)} rows of metadata")
    rows: Dict[str, int] = {"": EMPTY_TEXT}
    own = [rows.setdefault(tidy(sentence), len(rows)) for sentence in sentences]
    fields = tuple(dict.fromkeys(field for values in metadata for field in values))
    table = np.full((len(sentences), len(fields)), NO_TEXT, np.int64)
    for line, values in enumerate(metadata):
        for column, field in enumerate(fields):
            text = metadata_text(field, values.get(field, ""))
            if text is not None:
                table[line, column] = rows.setdefault(text, len(rows))
    texts = list(rows)
    vectors, sources = encoder.encode(texts), np.array(own, np.int64)
    return SentenceContexts(vectors, sources, table, fields, EMPTY_TEXT, partial(_pick, texts))


def _pick(texts: List[str], rows: Sequence[int]) -> List[str]:
    return [texts[row] for row in rows]
