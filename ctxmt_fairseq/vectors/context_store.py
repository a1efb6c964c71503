"""A store of context vectors: one for each distinct text, and an index for each sentence (MTCue, appendix A).

The vectors and indices are memory-mapped, so a training reads from disk what its batches need, and processes
on one machine share it. ``corpora/store_writer.py`` writes a store.
"""

import dataclasses
import json
import logging
import zlib
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_file
from ctxmt_fairseq.text.absence import EMPTY_TEXT
from ctxmt_fairseq.text.json_files import load_json
from ctxmt_fairseq.text.text_lines import PathLike
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

logger = logging.getLogger(__name__)
HEADER = "store.json"
VECTORS = "vectors.bin"  # (N, R) of the header's dtype, little-endian
TEXTS = "texts.txt"  # the texts that were embedded, one per line
VERSION = 3
READABLE = (2, 3)  # 2 had two more files, which nothing needs
DTYPES = {"float32": "<f4", "float16": "<f2"}
INDEX_DTYPE = np.dtype("<i4")
_FORMAT = "ctxmt context store"
_CHUNK = 2**24


def index_file(split: str) -> str:
    """The file with (n, 1 + F): for each sentence the rows of its own vector and of its metadata, or -1."""
    return f"{split}.index"


@dataclass(frozen=True)
class StoreHeader:
    """What is in a store.

    Attributes:
        encoder: the name of the text encoder.
        dimension: R.
        dtype: float32 or float16.
        fields: F names of metadata, which are the columns of an index after the first.
        sentences: whether the source sentences are embedded.
        count: N, the number of vectors.
        checksum: file -> CRC-32 of the part that this header describes.
        splits: name -> ``sentences``, and the ``digest`` of its source text.
        text_bytes: the bytes of ``TEXTS``.
        version: that of the format.
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
        """The bytes of one vector."""
        return self.dimension * np.dtype(DTYPES[self.dtype]).itemsize

    def index_shape(self, split: str) -> Tuple[int, int]:
        """(n, 1 + F)."""
        return self.splits[split]["sentences"], 1 + len(self.fields)

    @property
    def sizes(self) -> Dict[str, int]:
        """file -> the bytes that this header describes."""
        index = {index_file(x): int(np.prod(self.index_shape(x))) * INDEX_DTYPE.itemsize for x in self.splits}
        return {VECTORS: self.count * self.vector_bytes, TEXTS: self.text_bytes, **index}


def check_files(folder: PathLike, header: StoreHeader) -> None:
    """Read and check all bytes of a store but those that a killed run left behind: no header has them."""
    for name, size in header.sizes.items():
        path = Path(folder) / name
        found = path.stat().st_size if path.is_file() else 0
        if found < size:
            what = f"expected {size} bytes, found {found}: the context store is truncated"
            raise BadInput(f"{what}; delete it and embed again", path)
        if size and checksum_of(path, size) != header.checksum.get(name):
            what = "the checksum is wrong: the context store was changed or damaged"
            raise BadInput(f"{what}; delete it and embed again", path)


def checksum_of(path: Path, size: int) -> int:
    """The CRC-32 of a file's first bytes."""
    checksum = 0
    with open(path, "rb") as stream:
        while size and (chunk := stream.read(min(size, _CHUNK))):
            checksum = zlib.crc32(chunk, checksum)
            size -= len(chunk)
    return checksum


def read_header(folder: PathLike) -> StoreHeader:
    """Read and check the header of a store."""
    path = Path(folder) / HEADER
    if not path.is_file():
        raise BadInput(f"is no context store of ctxmt embed: found no {HEADER}", folder)
    content = load_json(path)
    try:
        if content.pop("format") != _FORMAT:
            raise ValueError
        version, checksum = content["version"], content.pop("header_checksum", None)
        if version in READABLE:
            header = StoreHeader(**{**content, "fields": tuple(content["fields"])})
            _check(header)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BadInput("is not what ctxmt embed writes; delete the store and embed again", path) from None
    if version not in READABLE:
        raise BadInput(f"expected a context store of version {VERSION}, found {version!r}", path)
    if checksum != header_checksum(content):
        raise BadInput("the checksum is wrong: changed or damaged; delete the store and embed again", path)
    return header


def header_checksum(content: Dict[str, Any]) -> int:
    """The CRC-32 of what the header says."""
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
    """Replace the header; then the new one is on disk."""
    content = json.loads(json.dumps(dataclasses.asdict(header)))  # tuples are lists
    content = {"format": _FORMAT, **content, "header_checksum": header_checksum(content)}
    write_file(Path(folder) / HEADER, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


class ContextStore:
    """A checked store (``open`` makes it): its folder, header, and memory map of vectors (N, R)."""

    def __init__(self, path: Path, header: StoreHeader):
        self.path = path
        self.header = header
        shape = header.count, header.dimension
        self.vectors: np.ndarray = np.memmap(path / VECTORS, DTYPES[header.dtype], "r", shape=shape)

    @classmethod
    def open(
        cls, path: PathLike, *, encoder: Optional[str] = None, dimension: Optional[int] = None
    ) -> "ContextStore":
        """Check a store, all its bytes included, and map it; encoder and dimension are checked if given."""
        path = Path(path)
        header = read_header(path)
        if not header.count:
            raise BadInput("holds no vector yet; run ctxmt embed again", path)
        for what, expected in (("encoder", encoder), ("dimension", dimension)):
            found = getattr(header, what)
            if expected is not None and expected != found:
                raise BadInput(f"expected vectors of the {what} {expected}, found {found}", path)
        check_files(path, header)
        return cls(path, header)

    def split(
        self,
        name: str,
        expected_sentences: int,
        digest: Optional[str] = None,
        metadata_digest: Optional[str] = None,
    ) -> SentenceContexts:
        """The contexts of a split, of so many sentences in the data folder, whose source text and metadata
        have these digests (``source_digest`` in the folder's description), if they are known. A warning says
        that the metadata are others: a store may be made of any."""
        if name not in self.header.splits:
            known = ", ".join(self.header.splits) or "none"
            what = f"has no contexts of the split {name}, only {known}; ctxmt embed adds them"
            raise BadInput(what, self.path)
        split = self.header.splits[name]
        if split["sentences"] != expected_sentences:
            what = f"expected contexts of {expected_sentences} sentences for the split {name}"
            found = f"found {split['sentences']}: the context store belongs to another corpus"
            raise BadInput(f"{what}, {found}", self.path)
        if digest is not None and split["digest"] != digest:
            what = f"the contexts of the split {name} were made from another text"
            raise BadInput(f"{what}; run ctxmt embed again", self.path)
        if metadata_digest is not None and split.get("metadata_digest", metadata_digest) != metadata_digest:
            other = "the contexts of the split %s were made from other metadata than the data folder has"
            logger.warning("%s: " + other + "; ctxmt embed makes them anew", self.path, name)
        shape = self.header.index_shape(name)
        index: np.ndarray = np.memmap(self.path / index_file(name), INDEX_DTYPE, "r", shape=shape)
        own, metadata, texts = index[:, 0], index[:, 1:], partial(stored_texts, self.path)
        return SentenceContexts(self.vectors, own, metadata, self.header.fields, EMPTY_TEXT, texts)


def stored_texts(path: PathLike, rows: Sequence[int]) -> List[str]:
    """The texts of some rows of the store in the folder ``path``."""
    file = Path(path) / TEXTS
    texts: np.ndarray = np.memmap(file, np.uint8, "r")
    status = file.stat()  # the folder may have another store by now
    starts = _starts(file, status.st_ino, status.st_size, status.st_mtime_ns)
    return [texts[starts[row] : starts[row + 1] - 1].tobytes().decode() for row in rows]


@lru_cache(maxsize=2)
def _starts(file: Path, *version: int) -> np.ndarray:
    """Where the lines of ``TEXTS`` begin. This takes a second for millions of texts."""
    texts: np.ndarray = np.memmap(file, np.uint8, "r")
    return np.append(0, np.flatnonzero(texts == ord("\n")) + 1)
