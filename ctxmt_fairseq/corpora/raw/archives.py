"""Documents by name from folders and zip files as downloaded; nothing is unpacked to the disk."""

import functools
import gzip
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, Dict, Optional, Sequence, Union

from ctxmt_fairseq.data.documents import open_file
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
LARGEST = 1 << 28  # bytes of one document, decompressed: a larger one is no document but an attack
# RuntimeError: encrypted, or compressed in a way that zipfile does not know.
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError)


class Archives:
    """Documents in folders and zip files.

    A name is that of an OPUS alignment (``en/2009/1218838/4681542.xml.gz``). It is found whether or not the
    file is compressed, and below the folders that OPUS puts around it (``OpenSubtitles/xml/``).

    Args:
        paths: folders and zip files, searched in this order.

    Raises:
        BadInput: a path is neither.
    """

    def __init__(self, paths: Sequence[PathLike]):
        self._places = [
            _Zip(Path(path)) if Path(path).is_file() and zipfile.is_zipfile(path) else _Folder(Path(path))
            for path in paths
        ]

    def read(self, name: str) -> bytes:
        """A document's content.

        Raises:
            BadInput: no such document, a name that leaves the folder, or a damaged file.
        """
        parts = PurePosixPath(name).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in name or "\\" in name:
            raise BadInput(f"expected the name of a document, found {name!r}")
        for place in self._places:
            found = place.read(name.removesuffix(".gz"))
            if found is not None:
                return found
        raise BadInput(f"no such document in {', '.join(str(place.path) for place in self._places)}", name)


class _Folder:
    def __init__(self, path: Path):
        self.path = path
        if not path.is_dir():
            raise BadInput("expected a folder or a zip file", path)
        self._roots = [path, *path.glob("xml"), *path.glob("raw"), *path.glob("*/xml"), *path.glob("*/raw")]

    def read(self, name: str) -> Optional[bytes]:
        for root in self._roots:
            for path in (root / name, root / f"{name}.gz"):
                if path.is_file():
                    return read_document(path)
        return None


class _Zip:
    def __init__(self, path: Path):
        self.path = path
        self._members: Optional[Dict[str, str]] = None

    @functools.cached_property
    def _archive(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.path)

    def read(self, name: str) -> Optional[bytes]:
        if self._members is None:
            self._members = {_below_format(member): member for member in self._archive.namelist()}
        member = self._members.get(name)
        if member is None:
            return None
        try:
            with self._archive.open(member) as stream:
                return _decompressed(stream, member)
        except _BROKEN as error:
            raise BadInput(f"damaged: {error or type(error).__name__}", f"{self.path}/{member}") from None


def _below_format(member: str) -> str:
    """A member's name as alignments write it: ``OpenSubtitles/xml/en/1.xml.gz`` is ``en/1.xml``."""
    parts = PurePosixPath(member.removesuffix(".gz")).parts
    for form in ("xml", "raw"):
        if form in parts[:2]:
            return "/".join(parts[parts.index(form) + 1 :])
    return "/".join(parts)


def read_document(path: PathLike) -> bytes:
    """A file's content, decompressed if its name ends with .gz.

    Raises:
        BadInput: no such file, a damaged one, or one that is larger than any document.
    """
    try:
        with open_file(path) as stream:
            return _decompressed(stream, str(path))
    except _BROKEN as error:
        raise BadInput(f"damaged: {error or type(error).__name__}", path) from None


def _decompressed(stream: IO[bytes], name: str) -> bytes:
    if name.endswith(".gz"):
        stream = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment,arg-type]
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadInput(f"expected a document of at most {LARGEST >> 20} MiB", name)
    return content
