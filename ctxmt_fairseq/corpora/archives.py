"""Reads documents by name from folders and zip files as downloaded; nothing is unpacked to the disk."""

import contextlib
import errno
import functools
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any, Callable, Dict, Iterator, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.compressed import as_damage, decompressed
from ctxmt_fairseq.text.text_lines import LARGEST, PathLike, open_file

_BELOW = ("xml", "raw", "*/xml", "*/raw")  # where OPUS puts documents in its folders
# RuntimeError: encrypted, or compressed in a way that zipfile does not know.
_BROKEN = (zipfile.BadZipFile, RuntimeError)


class Archives:
    """Documents in folders and zip files; folders are searched first.

    A name is that of an OPUS alignment (``en/2009/1218838/4681542.xml.gz``). It is found whether or not the
    file is compressed, and below the folders that OPUS puts around it (``OpenSubtitles/xml/``).
    """

    def __init__(self, paths: Sequence[PathLike]):
        self._paths = [Path(path) for path in paths]
        folders = [path for path in self._paths if path.is_dir()]
        inside = (root for path in folders for below in _BELOW for root in path.glob(below))
        self._roots = [*folders, *inside]
        self._zips = [path for path in self._paths if path.is_file() and zipfile.is_zipfile(path)]
        for path in self._paths:
            if path not in folders + self._zips:
                raise BadInput("expected a folder or a zip file", path)

    @functools.cached_property
    def _members(self) -> Dict[str, Tuple[zipfile.ZipFile, str]]:
        """Where each document is in the zip files; the first file counts."""
        archives = []
        for path in reversed(self._zips):
            with _damage_named(str(path)):
                archives.append(zipfile.ZipFile(path))
        return {_below_format(name): (archive, name) for archive in archives for name in archive.namelist()}

    def read(self, name: str) -> bytes:
        """Read a document; its name may not lead out of the folder."""
        parts = PurePosixPath(name).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in name or "\\" in name:
            raise BadInput(f"expected the name of a document, found {name!r}")
        plain = name.removesuffix(".gz")
        for root in self._roots:
            for path in (root / plain, root / f"{plain}.gz"):
                if path.is_file():
                    return read_document(path)
        if plain not in self._members:
            raise BadInput(f"no such document in {', '.join(map(str, self._paths))}", name)
        archive, member = self._members[plain]
        return _content(lambda: archive.open(member), f"{archive.filename}/{member}")


def read_document(path: PathLike) -> bytes:
    return _content(lambda: open_file(path), str(path))


def _content(open_it: Callable[[], Any], name: str) -> bytes:
    with _damage_named(name), open_it() as stream:
        content = decompressed(stream, name).read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadInput(f"expected a document of at most {LARGEST >> 20} MiB", name)
    return content


@contextlib.contextmanager
def _damage_named(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # EINVAL: a place outside of the zip file
        if isinstance(error, _BROKEN) or getattr(error, "errno", None) == errno.EINVAL:
            raise BadInput(f"damaged: {error}", name) from None
        raise as_damage(error, name) from None


def _below_format(member: str) -> str:
    """Turn a member's name into that of alignments: ``OpenSubtitles/xml/en/1.xml.gz`` is ``en/1.xml``."""
    parts = PurePosixPath(member.removesuffix(".gz")).parts
    form = next((form for form in ("xml", "raw") if form in parts[:2]), None)
    return "/".join(parts[parts.index(form) + 1 :] if form else parts)
