"""Writing of a context store, so that it can be killed at any moment.

Vectors and texts are appended and put on disk first; then the header, which says how much of the files
counts, is replaced in one step. Whatever a killed run left beyond that is cut off by the next run, which goes
on from there: a text that is in the store is never embedded again.
"""

import contextlib
import dataclasses
import fcntl
import os
import sqlite3
import zlib
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.corpora.store_repair import LOST, check_encoder, embedded, mend, row_sums
from ctxmt_fairseq.corpora.text_lookup import TextLookup
from ctxmt_fairseq.data.absence import EMPTY_TEXT, NO_TEXT
from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.store_header import (
    ENDS,
    ENDS_DTYPE,
    HEADER,
    INDEX_DTYPE,
    SUMS,
    TEXTS,
    VECTORS,
    StoreHeader,
    index_file,
    read_header,
    write_header,
)
from ctxmt_fairseq.data.text_encoders import TextEncoder
from ctxmt_fairseq.drafts import PREFIX, Draft, draft_file
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.output_files import writing

CHUNK = 2048  # texts that are embedded, and put on disk, together
_APPENDED = (VECTORS, TEXTS, ENDS, SUMS)
_LOOKUP = ".lookup.sqlite"


class StoreWriter:
    """A store that is being filled; ``store_writer`` opens it.

    Attributes:
        header: what is on disk.
        new: texts embedded by this writer.
        mended: what was found damaged, a line for each.
    """

    def __init__(self, path: Path, header: StoreHeader, encoder: TextEncoder):
        self.path = path
        self.header = header
        self.encoder = encoder
        self.mended: List[str] = []
        self.new = 0
        self._waiting: List[str] = []
        sizes = header.sizes(path)
        self._end = sizes[TEXTS]
        self._streams = {name: open(path / name, "ab") for name in _APPENDED}
        for name, stream in self._streams.items():
            stream.truncate(sizes[name])
        self._lookup = TextLookup(path / _LOOKUP)

    def start(self) -> None:
        """Learn what is in the store; a new one gets the empty text."""
        with open(self.path / TEXTS, encoding="utf-8", newline="\n") as lines:
            texts = ((line[:-1], number) for number, line in enumerate(lines))
            self._lookup.add((text, number) for text, number in texts if not text.startswith(LOST))
        if not self.header.count:
            self.row("")
            self._embed_waiting()
        check_encoder(self.path, self.header, self.encoder, EMPTY_TEXT)

    # ---- texts -----------------------------------------------------------------------------------------

    def row(self, text: str) -> int:
        """The row of a text, which is embedded if it is new."""
        row = self._lookup.get(text)
        if row is None:
            row = self.header.count + len(self._waiting)
            self._lookup.add([(text, row)])
            self._waiting.append(text)
            if len(self._waiting) == CHUNK:
                self._embed_waiting()
        return row

    def _embed_waiting(self) -> None:
        """Embed new texts and put them on disk; then the header may speak of them."""
        if not self._waiting:
            return
        vectors = embedded(self.encoder, self.header, self._waiting)
        lines = [text.encode() + b"\n" for text in self._waiting]
        ends = self._end + np.cumsum([len(line) for line in lines])
        checksum = dict(self.header.checksum)
        for name, data in (
            (VECTORS, vectors.tobytes()),
            (TEXTS, b"".join(lines)),
            (ENDS, (ends - 1).astype(ENDS_DTYPE).tobytes()),
            (SUMS, row_sums(vectors, [line[:-1] for line in lines]).tobytes()),
        ):
            checksum[name] = zlib.crc32(data, checksum.get(name, 0))
            self._streams[name].write(data)
        for stream in self._streams.values():
            _to_disk(stream)
        self._end = int(ends[-1])
        self._commit(count=self.header.count + len(lines), text_bytes=self._end, checksum=checksum)
        self.new += len(lines)
        self._waiting.clear()

    def _commit(self, **changes: Any) -> None:
        header = dataclasses.replace(self.header, **changes)
        write_header(self.path, header)
        self.header = header

    # ---- splits ----------------------------------------------------------------------------------------

    def write_split(self, name: str, rows: Iterator[Sequence[Optional[str]]], digest: str) -> None:
        """Write a split's index, and embed what is new in it; an index of that name is replaced at the end.

        Args:
            rows: for each sentence its own text and one of each field, None for nothing.
            digest: of the source text.
        """
        checksum = sentences = 0
        with draft_file(self.path / index_file(name)) as draft:
            with open(draft.path, "wb") as stream:
                for texts in rows:
                    numbers = [NO_TEXT if text is None else self.row(text) for text in texts]
                    data = np.array(numbers, INDEX_DTYPE).tobytes()
                    checksum = zlib.crc32(data, checksum)
                    stream.write(data)
                    sentences += 1
                _to_disk(stream)
            self._embed_waiting()
            self._place_index(name, draft, checksum, {"sentences": sentences, "digest": digest})

    def _place_index(self, name: str, draft: Draft, checksum: int, split: Dict[str, Any]) -> None:
        file = index_file(name)
        splits, checksums = dict(self.header.splits), dict(self.header.checksum)
        if (splits.pop(name, None), checksums.pop(file, None)) == (split, checksum):
            return  # the index that is there
        if name in self.header.splits:
            self._commit(splits=splits, checksum=checksums)  # a header never speaks of another index
        draft.place()
        self._commit(splits={**splits, name: split}, checksum={**checksums, file: checksum})

    def close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._lookup.close()


@contextlib.contextmanager
def store_writer(path: PathLike, wanted: StoreHeader, encoder: TextEncoder) -> Iterator[StoreWriter]:
    """Make a store, or go on with one.

    Args:
        path: its folder: new, empty or a store.
        wanted: encoder, dimension, dtype, fields and sentences of a new store, or those that the store there
            must have.

    Raises:
        BadInput: the folder holds something else, or another kind of store, or another process writes to it;
            or it cannot be written, or mended (``mend``).
    """
    path = Path(path)
    mended: List[str] = []
    with _folder_of_our_own(path), _full_disk(path):
        for leftover in path.glob(f"{PREFIX}*"):
            leftover.unlink()
        if (path / HEADER).is_file():
            header = read_header(path)
            check_same_kind(path, header, wanted)
            header, mended = mend(path, header, encoder)
        elif os.listdir(path):
            raise BadInput("exists and is no context store of ctxmt embed; choose another folder", path)
        else:
            header = wanted
            write_header(path, header)
        writer = StoreWriter(path, header, encoder)
        writer.mended = mended
        try:
            writer.start()
            yield writer
        finally:
            writer.close()


@contextlib.contextmanager
def _full_disk(path: Path) -> Iterator[None]:
    try:
        with writing(path):
            yield
    except sqlite3.Error as error:
        raise BadInput(f"cannot be written: {error}", path) from None


@contextlib.contextmanager
def _folder_of_our_own(path: Path) -> Iterator[None]:
    """Make the folder if need be, and keep other writers out; a lock ends with its process."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise BadInput(f"cannot be made: {error.strerror}", path) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput("another ctxmt embed is writing to it", path) from None
        yield
    finally:
        os.close(descriptor)


def check_same_kind(path: PathLike, header: StoreHeader, wanted: StoreHeader) -> None:
    """Refuse to add vectors of another kind.

    Raises:
        BadInput: names what differs.
    """
    for what in ("encoder", "dimension", "dtype", "fields", "sentences"):
        found, expected = getattr(header, what), getattr(wanted, what)
        if found != expected:
            if what == "fields":
                found, expected = (", ".join(names) or "none" for names in (found, expected))
            elif what == "sentences":
                found, expected = ("yes" if is_there else "no" for is_there in (found, expected))
            raise BadInput(
                f"the context store there has {what} {found}, not {expected}; choose a new folder with --out",
                path,
            )


def _to_disk(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())
