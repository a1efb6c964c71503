"""Writes a context store, and may be killed at any moment.

Vectors and texts are appended and put on disk first. Then the header, which says how much of the files
counts, is replaced in one step. The next run cuts off what a killed run has left beyond that, and goes on
there: a text that is in the store is never embedded again.
"""

import contextlib
import dataclasses
import itertools
import math
import os
import sqlite3
import zlib
from pathlib import Path
from typing import Any, Iterator, List, Mapping, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.drafts import PREFIX, Draft, Lock
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import writing
from ctxmt_fairseq.corpora.text_lookup import TextLookup
from ctxmt_fairseq.text.absence import NO_TEXT
from ctxmt_fairseq.text.text_lines import PathLike
from ctxmt_fairseq.vectors.context_store import (
    DTYPES,
    HEADER,
    INDEX_DTYPE,
    TEXTS,
    VECTORS,
    VERSION,
    StoreHeader,
    check_files,
    index_file,
    read_header,
    write_header,
)
from ctxmt_fairseq.vectors.text_encoders import TextEncoder

_CHECKED = 8  # vectors, where that of the empty text is zero
CHUNK = 2048  # so many texts a process embeds together
_SAME = 0.01  # two runs of one encoder may differ so much, because devices and float16 round differently


@contextlib.contextmanager
def store_writer(path: PathLike, wanted: StoreHeader, encoder: TextEncoder) -> Iterator["StoreWriter"]:
    """Make a store, or go on with one, which must have the encoder, fields and so on that are ``wanted``."""
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = Lock(path)
    except BlockingIOError:
        raise BadInput("another ctxmt embed is writing to it", path) from None
    except OSError as error:
        raise BadInput(f"cannot be made: {error.strerror}", path) from None
    with contextlib.closing(lock), _full_disk(path):
        for leftover in path.glob(f"{PREFIX}*"):
            leftover.unlink()
        header = wanted
        if (path / HEADER).is_file():
            header = read_header(path)
            check_same_kind(path, header, wanted)
            check_files(path, header)
        elif os.listdir(path):
            raise BadInput("exists and is no context store of ctxmt embed; choose another folder", path)
        else:
            write_header(path, header)
        with contextlib.closing(StoreWriter(path, header, encoder)) as writer:
            writer.start()
            yield writer


@contextlib.contextmanager
def _full_disk(path: Path) -> Iterator[None]:
    try:
        with writing(path):
            yield
    except sqlite3.Error as error:
        raise BadInput(f"cannot be written: {error}", path) from None


def check_same_kind(path: PathLike, header: StoreHeader, wanted: StoreHeader) -> None:
    """Refuse a store with vectors of another kind than wanted."""
    for what in ("encoder", "dimension", "dtype", "fields", "sentences"):
        found, expected = getattr(header, what), getattr(wanted, what)
        if found != expected:
            if what == "fields":
                found, expected = (", ".join(names) or "none" for names in (found, expected))
            elif what == "sentences":
                found, expected = ("yes" if there else "no" for there in (found, expected))
            raise BadInput(
                f"the context store there has {what} {found}, not {expected}; choose a new folder with --out",
                path,
            )


class StoreWriter:
    """A store that is being filled; ``store_writer`` opens it. It has embedded ``new`` texts."""

    def __init__(self, path: Path, header: StoreHeader, encoder: TextEncoder):
        self.path, self.header, self.encoder = path, header, encoder
        self.new = 0
        self._waiting: List[str] = []
        self._streams = {name: open(path / name, "ab") for name in (VECTORS, TEXTS)}
        for name, stream in self._streams.items():
            stream.truncate(header.sizes[name])
        self._lookup = TextLookup(path / ".lookup.sqlite")

    def start(self) -> None:
        """Learn what is in the store, and check its vector of the empty text, which a new one gets first."""
        with open(self.path / TEXTS, encoding="utf-8", newline="\n") as lines:
            self._lookup.add((line[:-1], number) for number, line in enumerate(lines))
        if not self.header.count:
            self.row("")
            self._embed_waiting()
        stored = self._stored(1)
        if not stored.any():  # encoders without context give it zeros, trained again or not
            stored = self._stored(_CHECKED)
        with open(self.path / TEXTS, encoding="utf-8", newline="\n") as lines:
            now = self.encoder.encode([line[:-1] for line in itertools.islice(lines, len(stored))])
        if (np.linalg.norm(now - stored, axis=1) > _SAME * np.linalg.norm(now, axis=1).clip(1)).any():
            raise BadInput(
                f"the encoder {self.encoder.name} gives other vectors than when the store was made; choose a "
                "new folder with --out",
                self.path,
            )

    def _stored(self, count: int) -> np.ndarray:
        """The first vectors, at most so many: (count, dimension)."""
        shape = min(count, self.header.count), self.header.dimension
        return np.fromfile(self.path / VECTORS, DTYPES[self.header.dtype], math.prod(shape)).reshape(shape)

    def row(self, text: str) -> int:
        """The row of a text, which is embedded if it is new."""
        row = self._lookup.get(text)
        if row is None:
            row = self.header.count + len(self._waiting)
            self._lookup.add([(text, row)])
            self._waiting.append(text)
            if len(self._waiting) == CHUNK * ranks.count():
                self._embed_waiting()
        return row

    def _embed_waiting(self) -> None:
        """Embed new texts and put them on disk; then the header may count them."""
        if not self._waiting:
            return
        vectors, shape = self.encoder.encode(list(self._waiting)), (len(self._waiting), self.header.dimension)
        if vectors.shape != shape or not np.isfinite(vectors).all():
            raise BadInput(
                f"expected {shape[0]} vectors of {shape[1]} finite numbers from the encoder "
                f"{self.encoder.name}, found an array of shape {vectors.shape}"
            )
        texts = "".join(f"{text}\n" for text in self._waiting).encode()
        checksum = dict(self.header.checksum)
        for name, data in ((VECTORS, vectors.astype(DTYPES[self.header.dtype]).tobytes()), (TEXTS, texts)):
            checksum[name] = zlib.crc32(data, checksum.get(name, 0))
            self._streams[name].write(data)
            _to_disk(self._streams[name])
        text_bytes = self.header.text_bytes + len(texts)
        self._commit(count=self.header.count + len(vectors), text_bytes=text_bytes, checksum=checksum)
        self.new += len(vectors)
        self._waiting.clear()

    def _commit(self, **changes: Any) -> None:
        header = dataclasses.replace(self.header, version=VERSION, **changes)
        write_header(self.path, header)
        self.header = header

    def write_split(
        self, name: str, rows: Iterator[Sequence[Optional[str]]], digests: Mapping[str, str]
    ) -> None:
        """Write a split's index, and embed what is new in it; at the end it replaces an earlier one. A row is
        for each sentence its own text and one of each field, None for nothing; ``digests`` are those of the
        text and of its metadata."""
        checksum = sentences = 0
        with Draft(self.path / index_file(name)) as draft:
            with open(draft.path, "wb") as stream:
                for texts in rows:
                    numbers = [NO_TEXT if text is None else self.row(text) for text in texts]
                    data = np.array(numbers, INDEX_DTYPE).tobytes()
                    checksum = zlib.crc32(data, checksum)
                    stream.write(data)
                    sentences += 1
                _to_disk(stream)
            self._embed_waiting()
            splits = {split: what for split, what in self.header.splits.items() if split != name}
            if name in self.header.splits:
                self._commit(splits=splits)  # a header must never describe another index
            draft.place()
        self._commit(
            splits={**splits, name: {"sentences": sentences, **digests}},
            checksum={**self.header.checksum, index_file(name): checksum},
        )

    def close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._lookup.close()


def _to_disk(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())
