"""Reads text with document ids, and keeps document boundaries as arrays. This module imports no torch.

A corpus is the files ``SPLIT.SRC``, ``SPLIT.TGT`` and ``SPLIT.docids`` in UTF-8, with a line of each for
every
sentence. A document is a maximal run of equal ids, so an id may return without joining two documents.
"""

import gzip
import itertools
import logging
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Iterable, Iterator, List, Optional, Sequence, Set, Tuple, TypeVar, Union

import numpy as np

from ctxmt_fairseq.data.symbols import SEPARATOR
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)
PathLike = Union[str, Path]
T = TypeVar("T")
_BLOCK = 2**18  # bytes that are read at once
LONGEST_LINE = 2**24  # bytes: far more than any sentence or its metadata has, and few enough to keep


def iterate_lines(path: PathLike) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file without their newlines; only ``\n`` ends a line."""
    with open_text(path) as stream:
        for number, raw in enumerate(raw_lines(stream, path), 1):
            yield decode_line(raw, path, number)


def open_text(path: PathLike) -> BinaryIO:
    """Open a regular file for reading, and decompress it if it is one of gzip."""
    stream = open_file(path)
    zipped = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    return gzip.open(stream) if zipped else stream  # type: ignore[return-value]


def lines_together(*paths: PathLike) -> Iterator[List[str]]:
    """Yield a line of each file at a time; the files must be of the same length."""
    return together([(path, iterate_lines(path)) for path in paths])


def together(columns: Sequence[Tuple[PathLike, Iterator[Any]]]) -> Iterator[List[Any]]:
    """Yield together what several readers make of their next lines; the files must be of the same length.

    Args:
        columns: a file, and what its reader yields for each line (never None).
    """
    paths, readers = zip(*columns, strict=True)
    for number, lines in enumerate(itertools.zip_longest(*readers)):
        if None in lines:
            longer = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
            raise BadInput(f"expected as many lines as {longer}, found {number}", paths[lines.index(None)])
        yield list(lines)


def one_each(lines: Iterable[T], count: int, path: PathLike) -> Iterator[T]:
    """Yield the lines of a file, which must be as many as there are sentences."""
    number = 0
    for number, line in enumerate(lines, 1):
        if number > count:
            raise BadInput(f"expected {count} lines, one for each sentence, found more", path, number)
        yield line
    if number < count:
        raise BadInput(f"expected {count} lines, one for each sentence, found {number}", path)


def open_file(path: PathLike) -> BinaryIO:
    """Open a regular file for reading."""
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
    except FileNotFoundError:
        raise BadInput("no such file", path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise BadInput(f"cannot be read: {getattr(error, 'strerror', error)}", path) from None
    # Refused here, because opening a pipe without a writer would wait for one.
    raise BadInput("expected a file, found a folder, a pipe or a device", path)


def read_bytes(path: PathLike) -> bytes:
    """The content of a regular file."""
    with open_file(path) as stream:
        return stream.read()


def raw_lines(stream: BinaryIO, path: PathLike) -> Iterator[bytes]:
    """Yield the lines with their newlines; ``path`` is for messages."""
    for number in itertools.count(1):
        try:
            raw = stream.readline(LONGEST_LINE + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput(f"damaged: {error}", path, number) from None
        if len(raw) > LONGEST_LINE:
            raise BadInput(f"expected lines of at most {LONGEST_LINE} bytes", path, number)
        if not raw:
            return
        yield raw


def raw_runs(stream: BinaryIO, path: PathLike) -> Iterator[Tuple[bytes, int]]:
    """Yield runs of equal lines: the line with its newline, and how often it is repeated. A run may come in
    parts.

    Long runs take hardly any time, because blocks of repeated lines are compared, each twice as long as the
    one before.
    """
    text, at, number = b"", 0, 1
    while True:
        end = text.find(b"\n", at) + 1 or len(text)
        if end == len(text):  # the line may go on
            if end - at > LONGEST_LINE:
                break
            more = stream.read(_BLOCK)
            if more:
                text, at = text[at:] + more, 0
                continue
            if at == end:
                return
        line, block, count = text[at:end], text[at:end], 0
        if len(line) > LONGEST_LINE:
            break
        while text.startswith(block, at):
            at, count, block = at + len(block), count + len(block) // len(line), block + block
        while len(block) > len(line):
            block = block[: len(block) // 2]
            if text.startswith(block, at):
                at, count = at + len(block), count + len(block) // len(line)
        yield line, count
        number += count
    raise BadInput(f"expected lines of at most {LONGEST_LINE} bytes", path, number)


def decode_line(raw: bytes, path: PathLike, number: int) -> str:
    """Decode a line, without the byte order mark that some editors put before the first line."""
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"expected UTF-8, found byte 0x{raw[error.start]:02x}", path, number) from None
    if "\0" in line:
        raise BadInput("expected text, found a NUL byte", path, number)
    if number == 1:
        line = line.removeprefix("\ufeff")
    return line.rstrip("\n").rstrip("\r")


def read_sentences(path: PathLike) -> List[str]:
    """Read the sentences of a text file, one per line; empty lines are empty sentences.

    Raises:
        BadInput: there is no such file, or it is no text in UTF-8; or a line has the separator, which marks
            the end of a sentence inside a window and so cannot be part of the text.
    """
    sentences = []
    for number, line in enumerate(iterate_lines(path), 1):
        if SEPARATOR in line:
            raise BadInput(f"expected text, found the symbol {SEPARATOR}", path, number)
        sentences.append(line.strip())
    return sentences


def read_flags(path: PathLike, expected: int) -> np.ndarray:
    """Read a file of 0 or 1 per line: (expected,) bool."""
    lines = list(iterate_lines(path))
    if len(lines) != expected:
        raise BadInput(f"expected {expected} lines of 0 or 1, found {len(lines)}", path)
    return np.array([parse_flag(line, path, number) for number, line in enumerate(lines, 1)], bool)


def parse_flag(line: str, path: PathLike, number: int) -> bool:
    """Read a line of 0 or 1; ``path`` and ``number`` say where it is, for messages."""
    if line.strip() not in ("0", "1"):
        raise BadInput(f"expected 0 or 1, found {line.strip()!r}", path, number)
    return line.strip() == "1"


def document_id(text: str) -> str:
    """A document's id without the white space, or byte order mark, that a text has around it."""
    return text.strip().strip("\ufeff").strip()


def id_runs(path: PathLike) -> Iterator[Tuple[str, int]]:
    """Yield the id and the number of lines of each document, from a file with one id per line. All ids are
    read here.

    An id that returns after another one starts a new document; a warning names the first such id.
    """
    seen: Set[str] = set()
    returned = False
    count = start = 0
    previous = None
    with open_file(path) as stream:
        for raw, repeated in raw_runs(stream, path):
            first, count = count + 1, count + repeated
            name = document_id(decode_line(raw, path, first))
            if not name:
                raise BadInput("expected a document id, found a blank line", path, first)
            if name == previous:  # a run came in parts, or there is other white space around the id
                continue
            if previous is not None:
                yield previous, first - 1 - start
            if name in seen and not returned:
                returned = True
                logger.warning(
                    "%s:%d: document id %r returns after another document; it is read as a new document",
                    path, first, name,
                )  # fmt: skip
            seen.add(name)
            start, previous = first - 1, name
    if previous is not None:
        yield previous, count - start


def iterate_ids(path: PathLike) -> Iterator[str]:
    """Yield the document id of every line; see ``id_runs``."""
    for name, length in id_runs(path):
        yield from itertools.repeat(name, length)


@dataclass(frozen=True)
class Documents:
    """Where the documents of a corpus begin.

    Attributes:
        starts: (D + 1,) int64, increasing; document d is the sentences starts[d] .. starts[d + 1] - 1.
    """

    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return int(self.starts[-1])

    def bounds(self, indices: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """The first sentence of each sentence's document, and one past the last; both are shaped like
        ``indices``."""
        indices = np.asarray(indices)
        # Search only among documents between the first and the last sentence: often they are few.
        least, most = indices.min(initial=self.sentences), indices.max(initial=0)
        first = np.searchsorted(self.starts, least, side="right") - 1
        starts = self.starts[first : np.searchsorted(self.starts, most, side="right") + 1]
        document = np.searchsorted(starts, indices, side="right") - 1
        return starts[document], starts[document + 1]

    @classmethod
    def from_ids(cls, ids: Sequence[str]) -> "Documents":
        """Find the boundaries from one id per sentence; the ids may be as files have them
        (``document_id``)."""
        return cls.from_lengths([len(list(run)) for _, run in itertools.groupby(map(document_id, ids))])

    @classmethod
    def from_lengths(cls, lengths: Union[Sequence[int], np.ndarray]) -> "Documents":
        """Find the boundaries from the number of sentences of each document."""
        return cls(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64))

    @classmethod
    def read(cls, path: PathLike, expected: Optional[int] = None) -> "Documents":
        """Read the boundaries from a file of document ids.

        Args:
            path: a file with one id, any non-empty string, per line.
            expected: the number of sentences that the file must have, if given.
        """
        lengths = np.fromiter((length for _, length in id_runs(path)), np.int64)
        documents = cls.from_lengths(lengths)
        if expected is not None and documents.sentences != expected:
            found = documents.sentences
            raise BadInput(f"expected {expected} document ids, one per sentence, found {found}", path)
        return documents
