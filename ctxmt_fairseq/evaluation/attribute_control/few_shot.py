"""Few-shot settings: one training set whose annotations are kept on few examples only (MTCue, section 3.2).

Lines that have at least one of the chosen attributes are annotated, and the values of all chosen attributes,
missing ones included, are a line's combination. A setting keeps the annotations of k lines of each
combination, or of all where there are fewer; on other lines it drops the chosen attributes and nothing else.
Each combination has its lines in one random order of which a setting keeps the first k, so that a smaller
setting's lines are among a larger one's.
"""

import json
import random
from array import array
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.data.documents import PathLike, read_flags
from ctxmt_fairseq.data.metadata_files import MetadataFiles
from ctxmt_fairseq.errors import BadInput

NOT_ANNOTATED, NEVER_KEPT = -1, -2
Combination = Tuple[Optional[str], ...]  # the chosen attributes' values; None where one is missing


@dataclass(frozen=True)
class Annotations:
    """The annotated lines of a metadata file.

    Attributes:
        attributes: the chosen ones.
        ranks: (lines,) int64, each annotated line's place from 0 in the random order of its combination, or
            ``NEVER_KEPT``; ``NOT_ANNOTATED`` for the other lines.
        sizes: the lines of each combination that have a place.
    """

    attributes: Tuple[str, ...]
    ranks: np.ndarray
    sizes: Mapping[Combination, int]

    def keeps(self, count: Optional[int]) -> np.ndarray:
        """The lines whose annotations a setting keeps, (lines,) bool.

        Args:
            count: k; None for all.
        """
        return (self.ranks >= 0) & (self.ranks < (len(self.ranks) if count is None else count))


def combination_of(fields: Mapping[str, str], attributes: Sequence[str]) -> Combination:
    """The attributes' values; a blank value is a missing one."""
    return tuple(fields.get(name, "").strip() or None for name in attributes)


def read_annotations(
    metadata: MetadataFiles, attributes: Sequence[str], seed: int, current: Optional[PathLike] = None
) -> Annotations:
    """Find the annotated lines, and draw the order of each combination's.

    Args:
        current: 0 or 1 per line; lines marked 0 serve as context only, and no setting keeps theirs.

    Raises:
        BadInput: see ``MetadataFiles.lines`` and ``read_flags``; or an attribute that no line has.
    """
    found: Dict[Combination, array] = {}  # line numbers
    count = 0
    for count, fields in enumerate(metadata.lines(), 1):
        combination = combination_of(fields, attributes)
        if any(combination):
            found.setdefault(combination, array("q")).append(count - 1)
    for at, name in enumerate(attributes):
        if not any(combination[at] for combination in found):
            raise BadInput(
                f"expected the attribute {name!r} on some line, found it on none", metadata.paths[0]
            )
    trained = np.ones(count, bool) if current is None else read_flags(current, count)
    ranks = np.full(count, NOT_ANNOTATED, np.int64)
    sizes = {}
    for combination in sorted(found, key=lambda key: [value or "" for value in key]):
        lines = np.array(found[combination])
        ranks[lines] = NEVER_KEPT
        order = lines[trained[lines]].tolist()
        # Seeded by the combination, so that other combinations in the file change nothing here.
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
                "examples": annotations.sizes[key],
                "kept": kept[key],
            }
            for key in annotations.sizes
        ],
    }
