"""A store of context vectors: each distinct text embedded once, an index per sentence (MTCue, appendix A).

The vectors and indices are memory-mapped: a training reads from disk what its batches need, and processes on
one machine share it. ``corpora/store_writer.py`` writes a store.
"""

import zlib
from functools import partial
from pathlib import Path
from typing import List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.data.absence import EMPTY_TEXT
from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.sentence_contexts import SentenceContexts
from ctxmt_fairseq.data.store_header import (
    DTYPES,
    ENDS,
    ENDS_DTYPE,
    INDEX_DTYPE,
    TEXTS,
    VECTORS,
    StoreHeader,
    check_size,
    index_file,
    read_header,
)
from ctxmt_fairseq.errors import BadInput

_CHUNK = 2**24


class ContextStore:
    """An existing store, checked; ``open`` it.

    Attributes:
        path: its folder.
        header: what it holds.
        vectors: (N, R) memory map.
    """

    def __init__(self, path: Path, header: StoreHeader):
        self.path = path
        self.header = header
        shape = header.count, header.dimension
        self.vectors: np.ndarray = np.memmap(path / VECTORS, DTYPES[header.dtype], "r", shape=shape)

    @classmethod
    def open(
        cls, path: PathLike, *, encoder: Optional[str] = None, dimension: Optional[int] = None
    ) -> "ContextStore":
        """Check a store, all its bytes included, and map it.

        Args:
            encoder, dimension: what the vectors are expected to be.

        Raises:
            BadInput: no store; one that is truncated, changed or of another version; another encoder or
                dimension than expected.
        """
        path = Path(path)
        header = read_header(path)
        if not header.count:
            raise BadInput("holds no vector yet; run ctxmt embed again", path)
        for what, expected, found in (
            ("encoder", encoder, header.encoder),
            ("dimension", dimension, header.dimension),
        ):
            if expected is not None and expected != found:
                raise BadInput(f"expected vectors of the {what} {expected}, found {found}", path)
        for name, size in header.sizes(path).items():
            check_size(path / name, size)
            if checksum_of(path / name, size) != header.checksum.get(name):
                raise BadInput(
                    "the checksum is wrong: the context store was changed or damaged; ctxmt embed mends it",
                    path / name,
                )
        return cls(path, header)

    def split(self, name: str, expected_sentences: int, digest: Optional[str] = None) -> SentenceContexts:
        """The contexts of a split.

        Args:
            name: train, valid, ..
            expected_sentences: of the split in the data folder.
            digest: of its source text (``source_digest`` in the data folder's description), if known.

        Raises:
            BadInput: no such split, or another text's.
        """
        if name not in self.header.splits:
            known = ", ".join(self.header.splits) or "none"
            raise BadInput(
                f"expected contexts of the split {name}, found {known}; ctxmt embed adds them", self.path
            )
        split = self.header.splits[name]
        if split["sentences"] != expected_sentences:
            raise BadInput(
                f"expected contexts of {expected_sentences} sentences for the split {name}, "
                f"found {split['sentences']}: the context store belongs to another corpus",
                self.path,
            )
        if digest is not None and split["digest"] != digest:
            raise BadInput(
                f"the contexts of the split {name} were made from another text; run ctxmt embed again",
                self.path,
            )
        shape = self.header.index_shape(name)
        index: np.ndarray = np.memmap(self.path / index_file(name), INDEX_DTYPE, "r", shape=shape)
        texts = partial(stored_texts, self.path, self.header.count)
        return SentenceContexts(
            self.vectors, index[:, 0], index[:, 1:], self.header.fields, EMPTY_TEXT, texts
        )


def stored_texts(path: PathLike, count: int, rows: Sequence[int]) -> List[str]:
    """What was embedded for rows of the store with ``count`` vectors in the folder ``path``."""
    ends: np.ndarray = np.memmap(Path(path) / ENDS, ENDS_DTYPE, "r", shape=(count,))
    texts = []
    with open(Path(path) / TEXTS, "rb") as stream:
        for row in rows:
            start = int(ends[row - 1]) + 1 if row else 0
            stream.seek(start)
            texts.append(stream.read(int(ends[row]) - start).decode("utf-8"))
    return texts


def checksum_of(path: Path, size: int) -> int:
    """CRC-32 of a file's first bytes."""
    checksum = 0
    with open(path, "rb") as stream:
        while size and (chunk := stream.read(min(size, _CHUNK))):
            checksum = zlib.crc32(chunk, checksum)
            size -= len(chunk)
    return checksum
