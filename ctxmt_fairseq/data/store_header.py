"""A context store on disk: the names and layout of its files, and its header."""

import dataclasses
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Tuple

import numpy as np

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import load_json
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.output_files import write_file

HEADER = "store.json"
VECTORS = "vectors.bin"  # (N, R) of the header's dtype, little-endian
TEXTS = "texts.txt"  # what was embedded, one text per line
ENDS = "texts.ends"  # (N,) where each text ends in TEXTS, its newline excluded
SUMS = "rows.crc"  # (N, 2) CRC-32 of each vector's bytes and of its text's
VERSION = 2
OLDER = 1  # has no SUMS, and no checksum of the header: it can be read, and added to
DTYPES = {"float32": "<f4", "float16": "<f2"}
INDEX_DTYPE = np.dtype("<i4")
ENDS_DTYPE = np.dtype("<i8")
SUMS_DTYPE = np.dtype(("<u4", 2))
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
        text_bytes: of ``TEXTS``.
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
    text_bytes: int = 0
    version: int = VERSION

    @property
    def vector_bytes(self) -> int:
        """Bytes of one vector."""
        return self.dimension * np.dtype(DTYPES[self.dtype]).itemsize

    def index_shape(self, split: str) -> Tuple[int, int]:
        """(n, 1 + F)."""
        return self.splits[split]["sentences"], 1 + len(self.fields)

    def sizes(self, folder: PathLike) -> Dict[str, int]:
        """file -> bytes that this header describes; of ``OLDER``, the folder's ``ENDS`` says it of ``TEXTS``.

        Raises:
            BadInput: that file is truncated.
        """
        sizes = {
            VECTORS: self.count * self.vector_bytes,
            ENDS: self.count * ENDS_DTYPE.itemsize,
            SUMS: self.count * SUMS_DTYPE.itemsize,
            TEXTS: self.text_bytes,
        }
        for split in self.splits:
            sizes[index_file(split)] = int(np.prod(self.index_shape(split))) * INDEX_DTYPE.itemsize
        if self.version == OLDER:
            del sizes[SUMS]
            if self.count:
                check_size(Path(folder) / ENDS, sizes[ENDS])
                with open(Path(folder) / ENDS, "rb") as stream:
                    stream.seek(sizes[ENDS] - ENDS_DTYPE.itemsize)
                    sizes[TEXTS] = int.from_bytes(stream.read(ENDS_DTYPE.itemsize), "little") + 1
        return sizes


def check_size(path: Path, expected: int) -> None:
    """Raises BadInput: a file is too short. More bytes than expected are the tail of a killed run."""
    found = path.stat().st_size if path.is_file() else 0
    if found < expected:
        raise BadInput(
            f"expected {expected} bytes, found {found}: the context store is truncated; ctxmt embed mends it",
            path,
        )


def read_header(folder: PathLike) -> StoreHeader:
    """The header of a store.

    Raises:
        BadInput: no store there, or one of another version.
    """
    path = Path(folder) / HEADER
    if not path.is_file():
        raise BadInput(f"expected a context store of ctxmt embed, found no {HEADER}", folder)
    content = load_json(path)
    try:
        if content.pop("format") != _FORMAT:
            raise ValueError
        version, checksum = content["version"], content.pop("header_checksum", None)
        if version in (OLDER, VERSION):
            header = StoreHeader(**{**content, "fields": tuple(content["fields"])})
            _check(header)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BadInput("expected the header that ctxmt embed writes", path) from None
    if version not in (OLDER, VERSION):
        raise BadInput(f"expected a context store of version {VERSION}, found {version!r}", path)
    if version == VERSION and checksum != header_checksum(content):
        raise BadInput("the checksum is wrong: changed or damaged; delete the store and embed again", path)
    return header


def header_checksum(content: Dict[str, Any]) -> int:
    """CRC-32 of what the header says."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _check(header: StoreHeader) -> None:
    numbers = [header.count, header.dimension, header.text_bytes, *header.checksum.values()]
    for name, split in header.splits.items():
        numbers.append(split["sentences"])
        if Path(name).name != name or not isinstance(split["digest"], str):
            raise ValueError
    if header.dtype not in DTYPES or not all(isinstance(x, int) and x >= 0 for x in numbers):
        raise ValueError


def write_header(folder: PathLike, header: StoreHeader) -> None:
    """Replace the header; when this returns, the new one is on disk."""
    content = json.loads(json.dumps(dataclasses.asdict(header)))  # tuples are lists
    content = {"format": _FORMAT, **content, "header_checksum": header_checksum(content)}
    write_file(Path(folder) / HEADER, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
