"""Writes a map as a picture, with files of its numbers beside it."""

import json
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.files import check_outputs, write_files
from ctxmt_fairseq.paths import Picture
from ctxmt_fairseq.plots.heat_map import heat_map

NUMBERS = (".tsv", ".json")  # endings of the files beside a map


def check_picture(
    path: PathLike, beside: Sequence[str] = (), others: Sequence[Optional[PathLike]] = ()
) -> Path:
    """Check the path of a picture, and all other outputs, before there is anything to draw.

    Args:
        beside: the endings of the files with its numbers.
        others: outputs of the same command; None for one that was not asked for.
    """
    Picture(str(path)).check()
    path = Path(path)
    check_outputs(path, *(path.with_suffix(suffix) for suffix in beside), *others)
    return path


def check_optional_picture(
    path: Optional[PathLike], beside: Sequence[str] = (), others: Sequence[Optional[PathLike]] = ()
) -> Optional[Path]:
    """``check_picture`` if a picture was asked for; the other outputs are checked in any case."""
    check_outputs(*others)
    return None if path is None else check_picture(path, beside, others)


def write_map(
    path: PathLike,
    labelled: LabelledMap,
    more: Optional[Dict[str, Any]] = None,
    annotate: bool = False,
    highest: Optional[float] = None,
) -> List[Path]:
    """Write FILE.png, and beside it FILE.tsv and FILE.json with the numbers.

    Args:
        path: FILE.png.
        more: further entries of FILE.json.
        annotate, highest: see ``heat_map``.

    Returns:
        the files.
    """
    path = check_picture(path, NUMBERS)
    numbers = json.dumps({**labelled.as_dict(), **(more or {})}, indent=2, ensure_ascii=False) + "\n"
    picture = heat_map(**vars(labelled), annotate=annotate, highest=highest)
    return write_beside(path, NUMBERS, picture, labelled.tsv(), numbers)


def write_beside(path: Path, beside: Sequence[str], content: bytes, *numbers: str) -> List[Path]:
    """Write a picture and the files beside it, all or none, and return their paths."""
    files = [path, *(path.with_suffix(suffix) for suffix in beside)]
    write_files(zip(files, [content, *numbers], strict=True))
    return files
