"""Few-shot settings: a training set that keeps its annotations on a few examples only (MTCue, section 3.2).

A line with at least one of the chosen attributes is annotated; the values of all chosen attributes, missing
ones included, are its combination. A setting keeps the annotations of k lines of each combination, or of all
if there are fewer. On other lines it drops the chosen attributes and nothing else. The lines of a combination
have one random order, from which each setting keeps the first k: a larger setting contains the smaller ones.

A setting has its own metadata, and links to the text that all settings share.
"""

import json
import random
from array import array
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.folders import folder_output
from ctxmt_fairseq.evaluation.attribute_control.attribute_sentences import Sentences, as_sentences
from ctxmt_fairseq.text.json_files import Place
from ctxmt_fairseq.text.metadata_files import MetadataFiles, metadata_line
from ctxmt_fairseq.text.text_lines import PathLike, read_flags

NOT_ANNOTATED, NEVER_KEPT = -1, -2
Combination = Tuple[Optional[str], ...]  # the chosen attributes' values; None where one is missing


@dataclass(frozen=True)
class Annotations:
    """The annotated lines of a metadata file.

    Attributes:
        ranks: (lines,) int64: the place, from 0, of each annotated line in the random order of its
            combination, or ``NEVER_KEPT``; ``NOT_ANNOTATED`` for the other lines.
        sizes: how many lines of each combination have a place.
    """

    attributes: Tuple[str, ...]
    ranks: np.ndarray
    sizes: Mapping[Combination, int]

    def keeps(self, count: Optional[int]) -> np.ndarray:
        """Whether a setting of k (None: all) keeps the annotations of each line, (lines,) bool."""
        return (self.ranks >= 0) & (self.ranks < (len(self.ranks) if count is None else count))


def combination_of(fields: Mapping[str, str], attributes: Sequence[str]) -> Combination:
    """The values of the attributes; a blank value counts as missing."""
    return tuple(fields.get(name, "").strip() or None for name in attributes)


def read_annotations(
    metadata: MetadataFiles, attributes: Sequence[str], seed: int, current: Optional[PathLike] = None
) -> Annotations:
    """Find the annotated lines, and shuffle those of each combination. No setting keeps annotations of the
    lines that ``current`` marks 0, because they serve as context only."""
    found: Dict[Combination, array] = {}  # line numbers
    count = 0
    for count, fields in enumerate(metadata.lines(), 1):
        combination = combination_of(fields, attributes)
        if any(combination):
            found.setdefault(combination, array("q")).append(count - 1)
    for at, name in enumerate(attributes):
        if not any(combination[at] for combination in found):
            raise BadInput(f"no line has the attribute {name!r}", metadata.paths[0])
    trained = np.ones(count, bool) if current is None else read_flags(current, count)
    ranks = np.full(count, NOT_ANNOTATED, np.int64)
    sizes = {}
    for combination in sorted(found, key=lambda key: [value or "" for value in key]):
        lines = np.array(found[combination])
        ranks[lines] = NEVER_KEPT
        order = lines[trained[lines]].tolist()
        # The combination is part of the seed, so that other combinations in the file change nothing here.
        random.Random(f"{seed}:{json.dumps(combination)}").shuffle(order)
        ranks[order] = np.arange(len(order))
        sizes[combination] = len(order)
    return Annotations(tuple(attributes), ranks, sizes)


def describe(annotations: Annotations, count: Optional[int]) -> Dict[str, Any]:
    """What a setting keeps, for JSON."""
    kept = {key: size if count is None else min(size, count) for key, size in annotations.sizes.items()}
    return {
        "count": "all" if count is None else count,
        "attributes": list(annotations.attributes),
        "lines": len(annotations.ranks),
        "annotated": int((annotations.ranks != NOT_ANNOTATED).sum()),
        "kept": sum(kept.values()),
        "combinations": [
            {
                "values": {n: v for n, v in zip(annotations.attributes, key, strict=True) if v is not None},
                "examples": size,
                "kept": kept[key],
            }
            for key, size in annotations.sizes.items()
        ],
    }


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
    """Write a folder OUT/K for every count (None: all), with metadata, ``setting.json``, and links to
    PREFIX's other files; returns what ``describe`` says of each setting, with the seed.

    OUT/K/NAME, in which NAME is the last part of PREFIX, is then the prefix of a text with the same
    sentences. Its metadata are one ``.meta.jsonl``, in which ``sentences`` stand in place of the attributes
    that are kept. If there is a ``PREFIX.current``, lines marked 0 keep no annotations.
    """
    source = Path(prefix).absolute()
    metadata = MetadataFiles.beside(source) or MetadataFiles.named(source)
    current = Path(f"{source}.current")
    with folder_output(out) as draft:
        annotations = read_annotations(metadata, attributes, seed, current if current.is_file() else None)
        settings = [{**describe(annotations, count), "seed": seed} for count in counts]
        kept: Dict[Path, np.ndarray] = {}  # file of metadata -> whether each line keeps its annotations
        for count, setting in zip(counts, settings, strict=True):
            folder = draft / str(setting["count"])
            folder.mkdir()
            _link_text(source, folder)
            (folder / SETTING).write_text(json.dumps(setting, indent=2, ensure_ascii=False) + "\n", "utf-8")
            kept[folder / f"{source.name}{METADATA}"] = annotations.keeps(count)
        _write_metadata(metadata, annotations, kept, sentences)
    return settings


def _link_text(source: Path, folder: Path) -> None:
    of_text, of_metadata = f"{source.name}.", f"{source.name}.meta."
    for file in source.parent.iterdir():
        if file.name.startswith(of_text) and not file.name.startswith(of_metadata) and file.is_file():
            (folder / file.name).symlink_to(file)


def _write_metadata(
    metadata: MetadataFiles,
    annotations: Annotations,
    kept: Mapping[Path, np.ndarray],
    sentences: Optional[Sentences],
) -> None:
    with ExitStack() as stack:
        outputs = [stack.enter_context(open(file, "w", encoding="utf-8")) for file in kept]
        lines = tqdm(metadata.lines(), total=len(annotations.ranks), unit="line", disable=None)
        for number, fields in enumerate(lines):
            with_attributes = without = metadata_line(fields)
            if any(combination_of(fields, annotations.attributes)):
                others = {k: v for k, v in fields.items() if k not in annotations.attributes}
                without = metadata_line(others)
                if sentences is not None:
                    place = Place(metadata.paths[0], number + 1)
                    with_attributes = metadata_line(as_sentences(fields, sentences, place))
            for output, keeps in zip(outputs, kept.values(), strict=True):
                output.write((with_attributes if keeps[number] else without) + "\n")
