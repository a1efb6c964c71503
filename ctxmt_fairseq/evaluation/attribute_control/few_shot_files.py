"""The files of few-shot settings: metadata only, beside links to the text that all settings share."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np
from tqdm.auto import tqdm

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.metadata_files import MetadataFiles
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.attribute_sentences import Sentences, as_sentences
from ctxmt_fairseq.evaluation.attribute_control.few_shot import (
    Annotations,
    combination_of,
    describe,
    read_annotations,
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
        prefix: of the metadata (see ``MetadataFiles``), which become one ``.meta.jsonl``; where there is a
            ``PREFIX.current``, lines marked 0 keep nothing.
        counts: annotated examples per combination of attributes; None for all.
        out: a new or empty folder.
        sentences: what is written in place of the kept attributes.

    Returns:
        ``describe`` each setting, with the seed.

    Raises:
        BadInput: see ``read_annotations`` and ``as_sentences``; no metadata, or a folder that cannot be
            written or is not empty.
    """
    source = Path(prefix).absolute()
    metadata = MetadataFiles.named(source)
    current = Path(f"{source}.current")
    with folder_output(out) as draft:
        annotations = read_annotations(metadata, attributes, seed, current if current.is_file() else None)
        settings = [{**describe(annotations, count), "seed": seed} for count in counts]
        for setting in settings:
            folder = draft / str(setting["count"])
            folder.mkdir()
            _link_text(source, folder)
            (folder / SETTING).write_text(json.dumps(setting, indent=2, ensure_ascii=False) + "\n", "utf-8")
        files = [draft / str(setting["count"]) / f"{source.name}{METADATA}" for setting in settings]
        kept = [annotations.keeps(count) for count in counts]
        _write_metadata(metadata, files, annotations, kept, sentences)
    return settings


def _link_text(source: Path, folder: Path) -> None:
    for file in source.parent.iterdir():
        if (
            file.name.startswith(f"{source.name}.")
            and not file.name.startswith(f"{source.name}.meta.")
            and file.is_file()
        ):
            (folder / file.name).symlink_to(file)


def _write_metadata(
    metadata: MetadataFiles,
    files: Sequence[Path],
    annotations: Annotations,
    kept: Sequence[np.ndarray],
    sentences: Optional[Sentences],
) -> None:
    """Write every setting's metadata."""
    with ExitStack() as stack:
        outputs = [stack.enter_context(open(file, "w", encoding="utf-8", newline="\n")) for file in files]
        lines = tqdm(metadata.lines(), total=len(annotations.ranks), unit="line", disable=None)
        for number, fields in enumerate(lines):
            with_attributes = without = _dump(fields)
            if any(combination_of(fields, annotations.attributes)):
                without = _dump({k: v for k, v in fields.items() if k not in annotations.attributes})
                if sentences is not None:
                    with_attributes = _dump(_written(metadata.paths[0], number, fields, sentences))
            for output, keeps in zip(outputs, kept, strict=True):
                output.write((with_attributes if keeps[number] else without) + "\n")


def _written(path: Path, number: int, fields: Mapping[str, str], sentences: Sentences) -> Mapping[str, str]:
    try:
        return as_sentences(fields, sentences)
    except BadInput as error:
        raise BadInput(str(error), path, number + 1) from None


def _dump(fields: Mapping[str, str]) -> str:
    return json.dumps(fields, ensure_ascii=False)
