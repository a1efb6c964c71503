"""Mending of a context store whose files were changed or damaged: only what is damaged is made anew.

Every vector and every text has a checksum of its own. A damaged vector is embedded anew from its text. A
damaged text is lost: zeros take its place, which no text holds, and the indices that mention it are dropped,
as damaged indices are; embedding the text of their splits makes them anew. While this goes on the header says
other checksums than the files have, so that no reader takes the store for whole, and a run that was killed is
followed by another that does the same.
"""

import dataclasses
import logging
import os
import zlib
from pathlib import Path
from typing import Any, Iterator, List, Sequence, Set, Tuple

import numpy as np

from ctxmt_fairseq.data.absence import EMPTY_TEXT
from ctxmt_fairseq.data.context_store import checksum_of
from ctxmt_fairseq.data.store_header import (
    DTYPES,
    ENDS,
    ENDS_DTYPE,
    INDEX_DTYPE,
    OLDER,
    SUMS,
    SUMS_DTYPE,
    TEXTS,
    VECTORS,
    VERSION,
    StoreHeader,
    index_file,
    write_header,
)
from ctxmt_fairseq.data.text_encoders import TextEncoder
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)
LOST = "\0"  # what a lost text begins with
_SAME = 0.01  # how far apart two runs of one encoder may be: devices and float16 round differently
_CHUNK = 2048  # rows


def row_sums(vectors: np.ndarray, texts: Sequence[bytes]) -> np.ndarray:
    """(n, 2) checksums of vectors (n, R), as they are stored, and texts."""
    pairs = zip(vectors, texts, strict=True)
    return np.array([(zlib.crc32(vector.tobytes()), zlib.crc32(text)) for vector, text in pairs], "<u4")


def embedded(encoder: TextEncoder, header: StoreHeader, texts: Sequence[str]) -> np.ndarray:
    """Vectors of texts, (n, R), as they are stored.

    Raises:
        BadInput: the encoder gives something else.
    """
    vectors = encoder.encode(list(texts))
    if vectors.shape != (len(texts), header.dimension) or not np.isfinite(vectors).all():
        raise BadInput(
            f"expected {len(texts)} vectors of {header.dimension} finite numbers from the encoder "
            f"{encoder.name}, found an array of shape {vectors.shape}"
        )
    return vectors.astype(DTYPES[header.dtype])


def check_encoder(path: Path, header: StoreHeader, encoder: TextEncoder, row: int, text: str = "") -> None:
    """Whether a model of this name is still the one that made the store.

    Args:
        row, text: a text in the store, by default the empty one.

    Raises:
        BadInput: its vector is another.
    """
    with open(path / VECTORS, "rb") as stream:
        stream.seek(row * header.vector_bytes)
        stored = np.frombuffer(stream.read(header.vector_bytes), DTYPES[header.dtype])
    now = encoder.encode([text])[0]
    if np.linalg.norm(now - stored) > _SAME * max(1.0, float(np.linalg.norm(now))):
        raise BadInput(
            f"the encoder {encoder.name} gives other vectors than when the store was made; choose a "
            "new folder with --out",
            path,
        )


def damaged_files(path: Path, header: StoreHeader) -> Set[str]:
    """The files of a store that are missing, too short, or have another checksum."""
    damaged = set()
    for name, size in header.sizes(path).items():
        file = path / name
        found = file.stat().st_size if file.is_file() else 0
        if found < size or size and checksum_of(file, size) != header.checksum.get(name):
            damaged.add(name)
    return damaged


def mend(path: Path, header: StoreHeader, encoder: TextEncoder) -> Tuple[StoreHeader, List[str]]:
    """Verify all bytes of a store, and mend what is damaged.

    Returns:
        the header of the store that is whole, and of the present version; and what was damaged, a line for
        each, which is warned about, too.

    Raises:
        BadInput: the damage cannot be mended, or the encoder is not the one that made the store.
    """
    try:
        damaged = damaged_files(path, header)
    except BadInput:
        damaged = {ENDS}
    if not damaged and header.version == VERSION:
        return header, []
    if header.version == OLDER and damaged & {TEXTS, ENDS}:
        raise BadInput("damaged; of an older version, it cannot be mended: delete it and embed again", path)
    whole = dataclasses.replace(header, version=VERSION, text_bytes=header.sizes(path)[TEXTS])
    rows = _Rows(path, whole, damaged)
    wrong = rows.wrong(header.version)
    lost, anew = np.flatnonzero(wrong[:, 1]), np.flatnonzero(wrong[:, 0] & ~wrong[:, 1])
    indices = {split: index_file(split) for split in header.splits}
    dropped = [
        split
        for split, name in indices.items()
        if name in damaged or len(lost) and np.isin(np.fromfile(path / name, INDEX_DTYPE), lost).any()
    ]
    said = [f"{path / name} is damaged" for name in sorted(damaged)]
    said += [f"{len(anew)} of {header.count} vectors are embedded anew"] if len(anew) else []
    said += [f"{len(lost)} of {header.count} texts are lost"] if len(lost) else []
    said += [f"the split {split} is made anew as soon as its text is embedded" for split in dropped]
    for line in said:
        logger.warning(line)

    intact = np.flatnonzero(~wrong.any(1))
    if len(anew) and len(intact):
        check_encoder(path, header, encoder, int(intact[0]), rows.text(int(intact[0])))
    splits = {split: what for split, what in header.splits.items() if split not in dropped}
    if dropped:  # a header never speaks of an index that is not the texts'
        write_header(path, dataclasses.replace(header, splits=splits))
    rows.replace(lost, anew, encoder)
    sizes = dataclasses.replace(whole, splits=splits).sizes(path)
    checksum = {name: checksum_of(path / name, size) for name, size in sizes.items()}
    whole = dataclasses.replace(whole, splits=splits, checksum=checksum)
    write_header(path, whole)
    return whole, said


class _Rows:
    """The files of N rows, mapped, as long as the header says.

    Raises:
        BadInput: neither the texts nor where they end can be told.
    """

    def __init__(self, path: Path, header: StoreHeader, damaged: Set[str]):
        self.path, self.header, self.damaged = path, header, damaged
        sizes = header.sizes(path)
        for name in (VECTORS, TEXTS, ENDS, SUMS):
            with open(path / name, "ab") as stream:
                stream.truncate(sizes[name])
        self.vectors = self._map(VECTORS, DTYPES[header.dtype], (header.count, header.dimension))
        self.texts = self._map(TEXTS, "u1", (header.text_bytes,))
        self.ends = self._map(ENDS, ENDS_DTYPE, (header.count,))
        self.sums = self._map(SUMS, SUMS_DTYPE.base, (header.count, 2))
        if ENDS in damaged:
            found = np.flatnonzero(self.texts == ord("\n"))
            if len(found) != header.count or found[EMPTY_TEXT] != 0:
                raise BadInput(f"damaged as {TEXTS} is: delete the store and embed again", path / ENDS)
            self.ends[:] = found

    def _map(self, name: str, dtype: Any, shape: Tuple[int, ...]) -> np.ndarray:
        """An array that changes with its file; an empty file cannot be mapped."""
        return np.memmap(self.path / name, dtype, "r+", shape=shape) if shape[0] else np.empty(shape, dtype)

    def _bytes(self, row: int) -> bytes:
        start = int(self.ends[row - 1]) + 1 if row else 0
        return self.texts[start : int(self.ends[row])].tobytes()

    def text(self, row: int) -> str:
        """A text that is intact."""
        return self._bytes(row).decode("utf-8")

    def _sums(self, rows: range) -> np.ndarray:
        return row_sums(self.vectors[rows.start : rows.stop], [self._bytes(row) for row in rows])

    def _chunks(self) -> Iterator[range]:
        rows = range(self.header.count)
        return (rows[at : at + _CHUNK] for at in range(0, len(rows), _CHUNK))

    def wrong(self, version: int) -> np.ndarray:
        """(N, 2) whether each vector and each text is damaged; an older version tells of all vectors only."""
        wrong = np.zeros((self.header.count, 2), bool)
        if version == OLDER:
            wrong[:, 0] = VECTORS in self.damaged
        elif self.damaged & {VECTORS, TEXTS}:
            for rows in self._chunks():
                part = slice(rows.start, rows.stop)
                wrong[part] = self._sums(rows) != self.sums[part]
            wrong &= [VECTORS in self.damaged, TEXTS in self.damaged]
            wrong[EMPTY_TEXT, 1] = False
        return wrong

    def replace(self, lost: np.ndarray, anew: np.ndarray, encoder: TextEncoder) -> None:
        """Put zeros in the place of lost texts, embed vectors anew, and put all on disk, checksums last."""
        self.texts[self.ends] = ord("\n")
        for row in lost.tolist():
            self.texts[int(self.ends[row - 1]) + 1 : int(self.ends[row])] = ord(LOST)
        self.vectors[lost] = 0
        for at in range(0, len(anew), _CHUNK):
            rows = anew[at : at + _CHUNK]
            self.vectors[rows] = embedded(encoder, self.header, [self.text(row) for row in rows.tolist()])
        self._to_disk(VECTORS, TEXTS, ENDS)
        for chunk in self._chunks():
            self.sums[chunk.start : chunk.stop] = self._sums(chunk)
        self._to_disk(SUMS)

    def _to_disk(self, *names: str) -> None:
        for array in (self.vectors, self.texts, self.ends, self.sums):
            if isinstance(array, np.memmap):
                array.flush()
        for name in names:
            with open(self.path / name, "rb") as stream:
                os.fsync(stream.fileno())
