"""The files that show a map."""

import json
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.picture import check_matplotlib, picture
from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.output import write_whole


def check_output(path: PathLike) -> Path:
    """The path of the picture, before there is anything to draw.

    Raises:
        BadInput: it does not end in .png, its folder does not exist, or matplotlib is not installed.
    """
    path = Path(path)
    if path.suffix != ".png":
        raise BadInput("expected the name of a picture, ending in .png", path)
    if not path.parent.is_dir():
        raise BadInput("no such folder", path.parent)
    check_matplotlib()
    return path


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
        more: further entries of the json file.
        annotate, highest: see ``picture``.

    Returns:
        the files.

    Raises:
        BadInput: as ``check_output``, or a file cannot be written.
    """
    path = check_output(path)
    contents: Dict[str, Union[str, bytes]] = {
        ".png": picture(labelled, annotate, highest),
        ".tsv": labelled.tsv(),
        ".json": json.dumps({**labelled.as_dict(), **(more or {})}, indent=2, ensure_ascii=False) + "\n",
    }
    files = [path.with_suffix(suffix) for suffix in contents]
    for file, content in zip(files, contents.values(), strict=True):
        write_whole(file, content)
    return files
