"""The files of few-shot settings: metadata only, beside links to the text that all settings share."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np
from tqdm import tqdm

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.attribute_sentences import Sentences, as_sentences
from ctxmt_fairseq.evaluation.attribute_control.few_shot import (
    Annotations,
    combination_of,
    describe,
    read_annotations,
    read_metadata,
)
from ctxmt_fairseq.output_folders import folder_output

SETTING = "setting.json"
METADATA = ".meta.jsonl"


def write_settings(
    prefix: str,
    attributes: Sequence[str],
    counts: Sequence[Optional[int]],
    out: PathLike,
    seed: int = 1,
    sentences: Optional[Sentences] = None,
) -> List[Dict[str, Any]]:
    """Write a folder OUT/K for every count: metadata, ``setting.json``, and links to PREFIX's other files.

    So OUT/K/NAME, with PREFIX's own name, is the prefix of a text with the same sentences as PREFIX.

    Args:
        prefix: of ``PREFIX.meta.jsonl``; where there is a ``PREFIX.current``, lines marked 0 keep nothing.
        counts: annotated examples per combination of attributes; None for all.
        out: a new or empty folder.
        sentences: what is written in place of the kept attributes.

    Returns:
        ``describe`` each setting, with the seed.

    Raises:
        BadInput: see ``read_annotations`` and ``as_sentences``; a chosen attribute in a file of its own
            (``PREFIX.meta.NAME``), or a folder that cannot be written or is not empty.
    """
    source = Path(prefix).absolute()
    for name in attributes:
        own = Path(f"{source}.meta.{name}")
        if own.exists():
            raise BadInput(f"expected the attribute {name!r} in {source.name}{METADATA} alone", own)
    path = Path(f"{source}{METADATA}")
    current = Path(f"{source}.current")
    with folder_output(out) as draft:
        annotations = read_annotations(path, attributes, seed, current if current.is_file() else None)
        settings = [{**describe(annotations, count), "seed": seed} for count in counts]
        for setting in settings:
            folder = draft / str(setting["count"])
            folder.mkdir()
            _link_text(source, folder)
            (folder / SETTING).write_text(json.dumps(setting, indent=2, ensure_ascii=False) + "\n", "utf-8")
        files = [draft / str(setting["count"]) / path.name for setting in settings]
        _write_metadata(path, files, annotations, [annotations.keeps(count) for count in counts], sentences)
    return settings


def _link_text(source: Path, folder: Path) -> None:
    for file in source.parent.iterdir():
        if (
            file.name.startswith(f"{source.name}.")
            and file.name != f"{source.name}{METADATA}"
            and file.is_file()
        ):
            (folder / file.name).symlink_to(file)


def _write_metadata(
    path: Path,
    files: Sequence[Path],
    annotations: Annotations,
    kept: Sequence[np.ndarray],
    sentences: Optional[Sentences],
) -> None:
    """Copy the metadata to every setting's file; a line that does not change keeps its bytes."""
    with ExitStack() as stack:
        outputs = [stack.enter_context(open(file, "w", encoding="utf-8", newline="\n")) for file in files]
        lines = tqdm(read_metadata(path), total=len(annotations.ranks), unit="line", disable=None)
        for number, (line, fields) in enumerate(lines):
            if not any(combination_of(fields, annotations.attributes)):
                with_attributes = without = line
            else:
                with_attributes = (
                    line if sentences is None else _dump(_written(path, number, fields, sentences))
                )
                without = _dump({k: v for k, v in fields.items() if k not in annotations.attributes})
            for output, keeps in zip(outputs, kept, strict=True):
                output.write((with_attributes if keeps[number] else without) + "\n")


def _written(path: Path, number: int, fields: Mapping[str, str], sentences: Sentences) -> Mapping[str, str]:
    try:
        return as_sentences(fields, sentences)
    except BadInput as error:
        raise BadInput(str(error), path, number + 1) from None


def _dump(fields: Mapping[str, str]) -> str:
    return json.dumps(fields, ensure_ascii=False)
