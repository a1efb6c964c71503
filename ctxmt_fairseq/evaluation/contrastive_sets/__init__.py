"""Contrastive sets: one reader per public format, one form for all of them."""

from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import load_json
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.bawden import read_bawden
from ctxmt_fairseq.evaluation.contrastive_sets.contrapro import read_contrapro
from ctxmt_fairseq.evaluation.contrastive_sets.ctxmt_jsonl import read_jsonl
from ctxmt_fairseq.evaluation.contrastive_sets.examples import (
    CONVENTIONS,
    Candidate,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
    texts_of,
)
from ctxmt_fairseq.evaluation.contrastive_sets.opensubs import read_opensubs
from ctxmt_fairseq.evaluation.contrastive_sets.voita import join_phenomena, read_voita

__all__ = [
    "CONVENTIONS",
    "FORMATS",
    "Candidate",
    "ContrastiveExample",
    "ContrastiveSet",
    "Convention",
    "read_contrastive_set",
    "read_contrastive_sets",
    "texts_of",
]

FORMATS: Dict[str, Callable[..., ContrastiveSet]] = {
    "opensubs": read_opensubs,
    "bawden": read_bawden,
    "voita": read_voita,
    "contrapro": read_contrapro,
    "jsonl": read_jsonl,
}


def read_contrastive_set(
    path: PathLike, format: Optional[str] = None, documents: Optional[PathLike] = None
) -> ContrastiveSet:
    """Read a contrastive set.

    Args:
        path: a file, or a folder for ``opensubs`` and for all phenomena of ``voita``.
        format: one of ``FORMATS``; found from the content if not given.
        documents: ContraPro only, see ``read_contrapro``.

    Raises:
        BadInput: an unknown format, or whatever the format's reader finds wrong.
    """
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", path)
    if format is None:
        format = _detect(path)
    if format not in FORMATS:
        raise BadInput(f"expected a format from {', '.join(FORMATS)}, found {format!r}", path)
    if format == "contrapro":
        return read_contrapro(path, documents)
    if documents is not None:
        raise BadInput(f"a documents folder goes with the format contrapro, found {format}", path)
    return FORMATS[format](path)


def read_contrastive_sets(
    paths: Sequence[PathLike], format: Optional[str] = None, documents: Optional[PathLike] = None
) -> List[ContrastiveSet]:
    """Read several; the phenomena of Voita et al. (2019) that are named file by file are one set, like a
    folder of them.

    Raises:
        BadInput: see ``read_contrastive_set``.
    """
    return join_phenomena([read_contrastive_set(path, format, documents) for path in paths])


def _detect(path: Path) -> str:
    if path.is_dir():
        return "opensubs" if any(path.glob("*.current.src")) else "voita"
    if path.suffix == ".jsonl":
        return "jsonl"
    content = load_json(path)
    if isinstance(content, dict):
        return "bawden"
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(first, dict):
        for key, format in (("true_ind", "voita"), ("src segment", "contrapro")):
            if key in first:
                return format
    raise BadInput(f"expected a contrastive set in one of the formats {', '.join(FORMATS)}", path)
