"""A context store on disk: the names and layout of its files, and its header."""

import dataclasses
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Tuple

import numpy as np

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.errors import BadInput

HEADER = "store.json"
VECTORS = "vectors.bin"  # (N, R) of the header's dtype, little-endian
TEXTS = "texts.txt"  # what was embedded, one text per line
ENDS = "texts.ends"  # (N,) where each text ends in TEXTS, its newline excluded
VERSION = 1
DTYPES = {"float32": "<f4", "float16": "<f2"}
INDEX_DTYPE = np.dtype("<i4")
ENDS_DTYPE = np.dtype("<i8")
_FORMAT = "ctxmt context store"


def index_file(split: str) -> str:
    """(n, 1 + F): for each sentence the rows of its own vector and of its metadata, -1 for nothing."""
    return f"{split}.index"


@dataclass(frozen=True)
class StoreHeader:
    """What a store holds.

    Attributes:
        encoder: name of the text encoder.
        dimension: R.
        dtype: float32 or float16.
        fields: F names of metadata, the columns of an index after the first.
        sentences: whether the source sentences are embedded.
        count: N, vectors.
        checksum: file -> CRC-32 of the part that this header describes.
        splits: name -> ``sentences``, and the ``digest`` of its source text.
        version: of the format.
    """

    encoder: str
    dimension: int
    dtype: str
    fields: Tuple[str, ...]
    sentences: bool = True
    count: int = 0
    checksum: Dict[str, int] = field(default_factory=dict)
    splits: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    version: int = VERSION

    @property
    def vector_bytes(self) -> int:
        """Bytes of one vector."""
        return self.dimension * np.dtype(DTYPES[self.dtype]).itemsize

    def index_shape(self, split: str) -> Tuple[int, int]:
        """(n, 1 + F)."""
        return self.splits[split]["sentences"], 1 + len(self.fields)

    def sizes(self, folder: PathLike) -> Dict[str, int]:
        """file -> bytes that this header describes; of ``TEXTS`` as ``ENDS`` in the folder has it."""
        sizes = {VECTORS: self.count * self.vector_bytes, ENDS: self.count * ENDS_DTYPE.itemsize}
        for split in self.splits:
            sizes[index_file(split)] = int(np.prod(self.index_shape(split))) * INDEX_DTYPE.itemsize
        ends = Path(folder) / ENDS
        for name, size in sizes.items():
            _check_size(Path(folder) / name, size)
        sizes[TEXTS] = 0
        if self.count:
            with open(ends, "rb") as stream:
                stream.seek(sizes[ENDS] - ENDS_DTYPE.itemsize)
                sizes[TEXTS] = int.from_bytes(stream.read(ENDS_DTYPE.itemsize), "little") + 1
        _check_size(Path(folder) / TEXTS, sizes[TEXTS])
        return sizes


def _check_size(path: Path, expected: int) -> None:
    """More bytes than the header knows are the tail of a run that was killed."""
    found = path.stat().st_size if path.is_file() else 0
    if found < expected:
        raise BadInput(f"expected {expected} bytes, found {found}: the context store is truncated", path)


def read_header(folder: PathLike) -> StoreHeader:
    """The header of a store.

    Raises:
        BadInput: no store there, or one of another version.
    """
    path = Path(folder) / HEADER
    if not path.is_file():
        raise BadInput(f"expected a context store of ctxmt embed, found no {HEADER}", folder)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != _FORMAT:
            raise ValueError
        version = content["version"]
        if version == VERSION:
            header = StoreHeader(**{**content, "fields": tuple(content["fields"])})
            _check(header)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BadInput("expected the header that ctxmt embed writes", path) from None
    if version != VERSION:
        raise BadInput(f"expected a context store of version {VERSION}, found {version!r}", path)
    return header


def _check(header: StoreHeader) -> None:
    numbers = [header.count, header.dimension, *header.checksum.values()]
    for name, split in header.splits.items():
        numbers.append(split["sentences"])
        if Path(name).name != name or not isinstance(split["digest"], str):
            raise ValueError
    if header.dtype not in DTYPES or not all(isinstance(x, int) and x >= 0 for x in numbers):
        raise ValueError


def write_header(folder: PathLike, header: StoreHeader) -> None:
    """Replace the header; when this returns, the new one is on disk."""
    folder = Path(folder)
    temporary = folder / f".{HEADER}.tmp"
    content = {"format": _FORMAT, **dataclasses.asdict(header)}
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, folder / HEADER)
    sync_folder(folder)


def sync_folder(folder: PathLike) -> None:
    """Put on disk which files the folder has."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
