"""Contrastive sets: a reader for each public format, and one form for all of them."""

from collections import Counter
from pathlib import Path
from typing import Any, List, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import (  # noqa: F401  (importing them registers them)
    bawden,
    contrapro,
    contrawsd,
    ctxmt_jsonl,
    opensubs,
    scat,
    voita,
)
from ctxmt_fairseq.evaluation.contrastive_sets.examples import (
    CONVENTIONS,
    Candidate,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
    texts_of,
)
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat
from ctxmt_fairseq.text.json_files import load_json
from ctxmt_fairseq.text.text_lines import PathLike

__all__ = [
    "CONVENTIONS", "FORMATS", "Candidate", "ContrastiveExample", "ContrastiveFormat", "ContrastiveSet",
    "Convention", "detect_format", "join_sets", "read_contrastive_set", "read_contrastive_sets", "texts_of",
]  # fmt: skip


def read_contrastive_set(
    path: PathLike, format: Optional[str] = None, documents: Optional[PathLike] = None
) -> ContrastiveSet:
    """Read a contrastive set.

    Args:
        path: a file, or a folder for ``opensubs`` and for all phenomena of ``voita``.
        format: one of ``FORMATS``; default: detected by the content.
        documents: the folder with the context, for formats that have it apart (see ``ContraPro``).
    """
    for given in (path, path if documents is None else documents):
        if not isinstance(given, (str, Path)):
            raise BadInput(f"expected the path of a file or folder, found {given!r}")
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", path)
    if format is None:
        format = detect_format(path)
    if format not in FORMATS:
        raise BadInput(f"expected a format from {', '.join(FORMATS)}, found {format!r}", path)
    if documents is not None and not FORMATS[format].has_documents:
        able = " or ".join(FORMATS.where(lambda kind: kind.has_documents))
        why = f"only the format {able} reads it, not {format}"
        raise BadInput(f"leave out the folder of documents: {why}", path)
    return FORMATS[format].read(path, documents)


def read_contrastive_sets(
    paths: Sequence[PathLike], format: Optional[str] = None, documents: Optional[PathLike] = None
) -> List[ContrastiveSet]:
    """Read several sets, and join the parts of one suite: the phenomena of Voita et al. (2019)."""
    return join_sets([read_contrastive_set(path, format, documents) for path in paths])


def join_sets(sets: List[ContrastiveSet]) -> List[ContrastiveSet]:
    """Join the parts of one suite (see ``read_contrastive_sets``), and refuse two sets of one name."""
    for kind in FORMATS.values():
        sets = kind.join(sets)
    for name, count in Counter(one.name for one in sets).items():
        if count > 1:
            raise BadInput(f"rename the contrastive sets: {count} of them are called {name}")
    return sets


def detect_format(path: Path) -> str:
    """The format of a file or folder, told by its name, or otherwise by the content of a JSON file."""

    def recognised(content: Any) -> Optional[str]:
        return next((name for name, kind in FORMATS.items() if kind.recognises(path, content)), None)

    found = recognised(None)
    if found is None and path.is_file():
        found = recognised(load_json(path))
    if found is None:
        formats = "; ".join(", ".join(filter(None, (name, kind.files))) for name, kind in FORMATS.items())
        raise BadInput(f"expected a contrastive set ({formats})", path)
    return found
