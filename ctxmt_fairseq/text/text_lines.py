"""Reads text line by line and checks it: UTF-8, lines of bounded length, compressed or not. This module
imports no torch."""

import hashlib
import itertools
import os
import re
import stat
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Iterable, Iterator, List, Sequence, Tuple, TypeVar, Union

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import STANDARD
from ctxmt_fairseq.text.compressed import as_damage, decompressed

if TYPE_CHECKING:
    import numpy as np

PathLike = Union[str, Path]
T = TypeVar("T")
_ESCAPE = "surrogateescape"
_NO_TEXT = re.compile("[\\0\ud800-\udfff]")  # NUL, and what ``_ESCAPE`` makes of bytes that are not UTF-8
_EQUAL = re.compile(rb"([^\n]*\n|[^\n]+)\1*")  # a line that is repeated; the last one may lack its newline
_BLOCK = 2**18  # bytes that are read at once
LARGEST = 2**28  # bytes of a text that is read as a whole, decompressed; a larger one is an attack
LONGEST_LINE = 2**24  # bytes: far more than any sentence or its metadata has, and few enough to keep


def iterate_lines(path: PathLike, lenient: bool = False) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file without their newlines; only ``\n`` ends a line. Lines that are no
    text (``is_text``) are refused unless ``lenient``."""
    with open_text(path) as stream:
        yield from stream_lines(stream, path, lenient)


def stream_lines(stream: BinaryIO, path: PathLike, lenient: bool = False) -> Iterator[str]:
    """``iterate_lines`` of a stream that is open; messages call it ``path``."""
    for number, raw in enumerate(raw_lines(stream, path), 1):
        yield _line(raw.decode("utf-8", _ESCAPE), number) if lenient else decode_line(raw, path, number)


def is_text(line: str) -> bool:
    """Whether a line that was read leniently is text: UTF-8 without NUL."""
    return "\0" not in line if line.isascii() else _NO_TEXT.search(line) is None


def open_text(path: PathLike) -> BinaryIO:
    """Open a regular file or standard input for reading, decompressed (``compressed``)."""
    return decompressed(open_file(path), path)


def lines_together(*paths: PathLike, lenient: bool = False) -> Iterator[List[str]]:
    """Yield a line of each file at a time (``iterate_lines``); the files must be of the same length."""
    return together([(path, iterate_lines(path, lenient)) for path in paths])


def together(columns: Sequence[Tuple[PathLike, Iterator[Any]]]) -> Iterator[List[Any]]:
    """Yield together what readers make of the next lines of files, which must be as long (never None)."""
    paths, readers = zip(*columns, strict=True)
    for number, lines in enumerate(itertools.zip_longest(*readers)):
        if None in lines:
            longer = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
            raise BadInput(f"expected as many lines as {longer}, found {number}", paths[lines.index(None)])
        yield list(lines)


def same_file(source: PathLike, target: PathLike) -> bool:
    """Whether one file, or folder, is given for both sides of a text."""
    return os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target)


def check_not_same(source: PathLike, target: PathLike) -> None:
    """Refuse one file, or folder, for both sides of a text: both would be in the same language."""
    if same_file(source, target):
        raise BadInput("is given for both sides", target)


def one_each(lines: Iterable[T], count: int, path: PathLike) -> Iterator[T]:
    """Yield the lines of a file, which must be as many as there are sentences."""
    number = 0
    for number, line in enumerate(lines, 1):
        if number > count:
            raise BadInput(f"expected {count} lines, one for each sentence, found more", path, number)
        yield line
    if number < count:
        raise BadInput(f"expected {count} lines, one for each sentence, found {number}", path)


def open_file(path: PathLike) -> BufferedReader:
    """Open a regular file for reading, or what comes on standard input."""
    try:
        if path == STANDARD:
            return open(0, "rb", closefd=False)
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


def file_digest(*paths: PathLike) -> str:
    """SHA-256 of the content of files, of which little is in memory at once."""
    digest = hashlib.sha256()
    for path in paths:
        with open_file(path) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def read_text(path: PathLike) -> bytes:
    """The content of a file of text, decompressed."""
    with open_file(path) as packed:
        try:
            stream = decompressed(packed, path)
            content = stream.read(-1 if stream is packed else LARGEST + 1)
        except Exception as error:
            raise as_damage(error, path) from None
    if len(content) > LARGEST and stream is not packed:
        raise BadInput(f"expected at most {LARGEST >> 20} MiB of text", path)
    return content


def raw_lines(stream: BinaryIO, path: PathLike) -> Iterator[bytes]:
    """Yield the lines with their newlines; messages call the file ``path``."""
    for number in itertools.count(1):
        try:
            raw = stream.readline(LONGEST_LINE + 1)
        except Exception as error:
            raise as_damage(error, path, number) from None
        if len(raw) > LONGEST_LINE:
            raise BadInput(f"expected lines of at most {LONGEST_LINE} bytes", path, number)
        if not raw:
            return
        yield raw


def equal_lines(stream: BinaryIO, path: PathLike) -> Iterator[Tuple[bytes, int]]:
    """Yield spans of equal lines: the line with its newline, and how often it is repeated. A span may come in
    parts."""
    number, rest, more = 1, b"", b"\n"
    while more:
        try:
            more = stream.read(_BLOCK)
        except Exception as error:
            raise as_damage(error, path, number) from None
        text = rest + more
        whole = text.rfind(b"\n") + 1 if more else len(text)
        for span in _EQUAL.finditer(text, 0, whole):
            count = len(span[0]) // len(span[1])
            yield span[1], count
            number += count
        rest = text[whole:]
        if len(rest) > LONGEST_LINE:
            raise BadInput(f"expected lines of at most {LONGEST_LINE} bytes", path, number)


def decode_line(raw: bytes, path: PathLike, number: int) -> str:
    """Decode a line, without the byte order mark that some editors put before the first line."""
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"expected UTF-8, found byte 0x{raw[error.start]:02x}", path, number) from None
    if "\0" in line:
        raise BadInput("expected text, found a NUL byte", path, number)
    return _line(line, number)


def _line(line: str, number: int) -> str:
    line = line.removeprefix("\ufeff") if number == 1 else line
    return line.rstrip("\n").rstrip("\r")


_BLANKS = re.compile(r"[^\S\u00a0\u202f\u3000]+")


def tidy(line: str) -> str:
    """A line with one blank between words, and none around it; no-break and ideographic spaces between words
    stay, because they are part of how a language is written."""
    return _BLANKS.sub(" ", line).strip()


def read_sentences(path: PathLike) -> List[str]:
    """Read the sentences of a text file, one per line; empty lines are empty sentences."""
    return [line.strip() for line in iterate_lines(path)]


def check_count(
    lines: Sequence[Any], expected: int, other: object, path: PathLike, way_out: str = ""
) -> None:
    """Refuse the lines of a file that are not as many as those of another one."""
    if len(lines) != expected:
        raise BadInput(f"expected {expected} lines, as in {other}, found {len(lines)}{way_out}", path)


def read_flags(path: PathLike, expected: int) -> "np.ndarray":
    """Read a file of 0 or 1 per line: (expected,) bool."""
    import numpy as np  # here, because commands that only print their options read no flags

    lines = one_each(iterate_lines(path), expected, path)
    return np.array([parse_flag(line, path, number) for number, line in enumerate(lines, 1)], bool)


def parse_flag(line: str, path: PathLike, number: int) -> bool:
    """Read a line of 0 or 1; ``path`` and ``number`` say where it is, for messages."""
    if line.strip() not in ("0", "1"):
        raise BadInput(f"expected 0 or 1, found {line.strip()!r}", path, number)
    return line.strip() == "1"
