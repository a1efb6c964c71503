"""A store of context vectors: one for each distinct text, and an index for each sentence (MTCue, appendix A).

The vectors and indices are memory-mapped, so a training reads from disk what its batches need, and processes
on one machine share it. ``corpora/store_writer.py`` writes a store.
"""

from functools import lru_cache, partial
from pathlib import Path
from typing import List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.absence import EMPTY_TEXT
from ctxmt_fairseq.text.text_lines import PathLike
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts
from ctxmt_fairseq.vectors.store_header import (
    DTYPES,
    INDEX_DTYPE,
    TEXTS,
    VECTORS,
    StoreHeader,
    check_files,
    index_file,
    read_header,
)


class ContextStore:
    """A checked store (``open`` makes it): its folder, what is in it, and a memory map of the vectors (N,
    R)."""

    def __init__(self, path: Path, header: StoreHeader):
        self.path = path
        self.header = header
        shape = header.count, header.dimension
        self.vectors: np.ndarray = np.memmap(path / VECTORS, DTYPES[header.dtype], "r", shape=shape)

    @classmethod
    def open(
        cls, path: PathLike, *, encoder: Optional[str] = None, dimension: Optional[int] = None
    ) -> "ContextStore":
        """Check a store, all its bytes included, and map it; encoder and dimension must be these, if
        given."""
        path = Path(path)
        header = read_header(path)
        if not header.count:
            raise BadInput("holds no vector yet; run ctxmt embed again", path)
        for what, expected in (("encoder", encoder), ("dimension", dimension)):
            found = getattr(header, what)
            if expected is not None and expected != found:
                raise BadInput(f"expected vectors of the {what} {expected}, found {found}", path)
        check_files(path, header)
        return cls(path, header)

    def split(self, name: str, expected_sentences: int, digest: Optional[str] = None) -> SentenceContexts:
        """The contexts of a split, of so many sentences in the data folder, whose source text has this digest
        (``source_digest`` in the folder's description), if it is known."""
        if name not in self.header.splits:
            known = ", ".join(self.header.splits) or "none"
            what = f"has no contexts of the split {name}, only {known}; ctxmt embed adds them"
            raise BadInput(what, self.path)
        split = self.header.splits[name]
        if split["sentences"] != expected_sentences:
            what = f"expected contexts of {expected_sentences} sentences for the split {name}"
            found = f"found {split['sentences']}: the context store belongs to another corpus"
            raise BadInput(f"{what}, {found}", self.path)
        if digest is not None and split["digest"] != digest:
            what = f"the contexts of the split {name} were made from another text"
            raise BadInput(f"{what}; run ctxmt embed again", self.path)
        shape = self.header.index_shape(name)
        index: np.ndarray = np.memmap(self.path / index_file(name), INDEX_DTYPE, "r", shape=shape)
        own, metadata, texts = index[:, 0], index[:, 1:], partial(stored_texts, self.path)
        return SentenceContexts(self.vectors, own, metadata, self.header.fields, EMPTY_TEXT, texts)


def stored_texts(path: PathLike, rows: Sequence[int]) -> List[str]:
    """The texts of some rows of the store in the folder ``path``."""
    texts: np.ndarray = np.memmap(Path(path) / TEXTS, np.uint8, "r")
    starts = _starts(path, len(texts))
    return [texts[starts[row] : starts[row + 1] - 1].tobytes().decode() for row in rows]


@lru_cache(maxsize=2)
def _starts(path: PathLike, size: int) -> np.ndarray:
    """Where the lines of ``TEXTS`` begin. This takes a second for millions of texts."""
    texts: np.ndarray = np.memmap(Path(path) / TEXTS, np.uint8, "r", shape=(size,))
    return np.append(0, np.flatnonzero(texts == ord("\n")) + 1)
