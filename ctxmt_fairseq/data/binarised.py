"""Checks a data folder's binary files and dictionaries, which fairseq maps into memory and trusts.

So a truncated or damaged file is found when it is loaded, and is not a crash or other text in the middle of a
training. This costs one pass over the files; fairseq makes one, too, to warm the cache.
"""

import os
import struct
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any, BinaryIO, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, open_file

_MAGIC = b"MMIDIDX\x00\x00"  # of fairseq's --dataset-impl mmap
_HEADER = struct.Struct("<9sQBQ")  # magic, version, code of the tokens' type, sentences
_TYPES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2", 9: "<u4", 10: "<u8"}
_SIZE, _POINTER = np.dtype("<i4"), np.dtype("<i8")
_CHUNK = 2**16  # sentences
_OVERWRITE = " #fairseq:overwrite"


def check_sentences(prefix: PathLike, dictionary: Any) -> None:
    """Compare PREFIX.idx, PREFIX.bin and a dictionary with each other.

    A file must be as long as the index says, and have nothing but sentences of the dictionary's symbols, each
    with ``</s>`` at its end. Other formats than mmap, fairseq's default, are left to fairseq.
    """
    index, tokens = Path(f"{prefix}.idx"), Path(f"{prefix}.bin")
    if not (index.is_file() and tokens.is_file()):
        return
    with open_file(index) as sizes, open_file(index) as pointers, open_file(tokens) as stream:
        header = sizes.read(_HEADER.size)
        if not header.startswith(_MAGIC):
            return
        dtype, sentences = _read_header(index, header)
        expected = _HEADER.size + sentences * (_SIZE.itemsize + _POINTER.itemsize)
        _check_size(index, expected, f"an index of {sentences} sentences")
        pointers.seek(_HEADER.size + sentences * _SIZE.itemsize)
        end = 0
        for first in range(0, sentences, _CHUNK):
            count = min(_CHUNK, sentences - first)
            lengths = _read(sizes, _SIZE, count).astype(np.int64)
            ends = np.cumsum(lengths)
            starts = (end + ends - lengths) * dtype.itemsize
            wrong = np.flatnonzero((lengths < 1) | (starts != _read(pointers, _POINTER, count)))
            if len(wrong):
                raise BadInput("damaged: sentences do not follow each other", index, first + wrong[0] + 1)
            end += int(ends[-1])
            _check_tokens(tokens, stream, dtype, ends, first, dictionary)
        _check_size(tokens, end * dtype.itemsize, f"the {end} tokens of its index")


def _read_header(path: Path, header: bytes) -> Tuple[np.dtype, int]:
    if len(header) == _HEADER.size:
        _, version, code, sentences = _HEADER.unpack(header)
        if version == 1 and code in _TYPES and sentences < 2**40:
            return np.dtype(_TYPES[code]), sentences
    raise BadInput("expected an index of binarised sentences, found a damaged one", path)


def _check_size(path: Path, expected: int, what: str) -> None:
    found = os.path.getsize(path)
    if found != expected:
        raise BadInput(f"truncated or damaged: expected {expected} bytes for {what}, found {found}", path)


def _read(stream: BinaryIO, dtype: np.dtype, count: int) -> np.ndarray:
    return np.frombuffer(stream.read(count * dtype.itemsize), dtype)


def _check_tokens(
    path: Path, stream: BinaryIO, dtype: np.dtype, ends: np.ndarray, first: int, dictionary: Any
) -> None:
    """Read and check the next sentences, which end before ``ends``."""
    wanted = int(ends[-1]) * dtype.itemsize
    content = stream.read(min(wanted, os.path.getsize(path)))
    if len(content) < wanted:
        raise BadInput("truncated: expected the tokens of all sentences of its index", path)
    tokens = np.frombuffer(content, dtype)
    strange = (tokens >= len(dictionary)) | (tokens < 0)
    if strange.any():
        at = int(strange.argmax())
        sentence = first + int(np.searchsorted(ends, at, side="right")) + 1
        most = f"{len(dictionary)}, the size of the dictionary"
        raise BadInput(f"expected tokens below {most}, found {tokens[at]}", path, sentence)
    open_ended = np.flatnonzero(tokens[ends - 1] != dictionary.eos())
    if len(open_ended):
        raise BadInput("damaged: expected </s> at the end", path, first + int(open_ended[0]) + 1)


def checked_dictionary(path: PathLike) -> Any:
    """Check and load a fairseq dictionary."""
    from fairseq.data import Dictionary  # here, because commands without a model start without fairseq

    _check_lines(path, Dictionary().symbols)
    try:
        return Dictionary.load(str(path))
    except Exception as error:  # for what the check of the lines lets through
        raise BadInput(f"is no dictionary of fairseq: {error}", path) from None


def _check_lines(path: PathLike, symbols: Sequence[str]) -> None:
    with open_file(path) as stream:
        if stream.read(len(BOM_UTF8)) == BOM_UTF8:  # fairseq would take it for a part of the first symbol
            raise BadInput("expected a symbol, found a byte order mark: save it without", path, 1)
    seen = set(symbols)
    for number, line in enumerate(iterate_lines(path), 1):
        overwrite = line.rstrip().endswith(_OVERWRITE)
        symbol, _, count = line.rstrip().removesuffix(_OVERWRITE).rpartition(" ")
        if not symbol or not (count.isascii() and count.isdigit() and len(count) < 19):
            raise BadInput("expected a symbol and its count", path, number)
        if symbol in seen and not overwrite:
            raise BadInput(f"the symbol {symbol} is there twice", path, number)
        seen.add(symbol)
