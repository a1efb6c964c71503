"""Writes a map as a picture, with files of its numbers beside it."""

import json
from pathlib import Path
from typing import Any, Dict, List, Optional

from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.base.files import write_files
from ctxmt_fairseq.base.paths import Map, Picture
from ctxmt_fairseq.base.plots.heat_map import draw_heat_map
from ctxmt_fairseq.text.text_lines import PathLike


def write_map(
    path: PathLike,
    labelled: LabelledMap,
    more: Optional[Dict[str, Any]] = None,
    annotate: bool = False,
    highest: Optional[float] = None,
) -> List[Path]:
    """Write FILE.png, and beside it FILE.tsv and FILE.json with the numbers and ``more``; returns the
    files."""
    numbers = json.dumps({**labelled.as_dict(), **(more or {})}, indent=2, ensure_ascii=False) + "\n"
    picture = draw_heat_map(**vars(labelled), annotate=annotate, highest=highest)
    return write_picture(Map(str(path)), picture, labelled.tsv(), numbers)


def write_picture(path: Picture, content: bytes, *numbers: str) -> List[Path]:
    """Write a picture and the files beside it, all or none; returns their paths."""
    path.check()
    files = list(map(Path, path.files()))
    write_files(zip(files, [content, *numbers], strict=True))
    return files
