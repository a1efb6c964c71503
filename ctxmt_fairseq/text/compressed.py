"""Decompresses gzip, Zstandard, xz and bzip2, told by a file's first bytes and not by its name. The memory of
these streams does not grow with the text. What is written is compressed by its name."""

import _compression
import bz2
import gzip
import io
import lzma
import zlib
from typing import Any, Optional

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra

_BZIP2 = b"1AY&SY", b"\x17rE8P\x90"  # behind BZh and a digit; the second is that of an empty text
_MEMORY = 2**27  # bytes that a decompressor may take; the highest levels of xz need half of it


def decompressed(stream: Any, path: object) -> Any:
    """What a stream of bytes holds, which must have ``peek``; messages call it ``path``."""
    head = stream.peek(10)
    if head.startswith(b"\x1f\x8b"):
        return gzip.open(stream)
    if head.startswith(b"BZh") and head[4:10] in _BZIP2:
        return bz2.open(stream)
    if head.startswith(b"\xfd7zXZ\0"):  # lzma.open, which has no bound for its memory
        known: Any = {"trailing_error": lzma.LZMAError, "memlimit": _MEMORY}
        return io.BufferedReader(_compression.DecompressReader(stream, lzma.LZMADecompressor, **known))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        pyarrow = import_of_extra("pyarrow", "corpora", f"{path}: Zstandard needs the package pyarrow")
        return io.BufferedReader(pyarrow.CompressedInputStream(stream, "zstd"))
    return stream


def compressed(content: bytes, name: str) -> bytes:
    """What is written to a file of this name, whose ending may say that it is compressed."""
    if name.endswith(".gz"):
        return gzip.compress(content, mtime=0)
    if name.endswith(".zst"):
        pyarrow = import_of_extra("pyarrow", "corpora", f"{name}: Zstandard needs the package pyarrow")
        return bytes(pyarrow.compress(content, codec="zstd"))
    if name.endswith(".bz2"):
        return bz2.compress(content)
    return lzma.compress(content) if name.endswith(".xz") else content


def as_damage(error: Exception, path: object, line: Optional[int] = None) -> Exception:
    """What to raise for an error while reading: ``BadInput`` where what is compressed is damaged."""
    if isinstance(error, (EOFError, zlib.error, lzma.LZMAError)) or (
        isinstance(error, OSError) and error.errno is None  # the others'
    ):
        return BadInput(f"damaged: {error}", path, line)
    return error
