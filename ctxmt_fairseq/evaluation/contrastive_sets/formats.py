"""The formats of contrastive sets, and what a format must do."""

import os
from pathlib import Path
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Type

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.registry import Registry
from ctxmt_fairseq.evaluation.contrastive_sets.examples import ContrastiveExample, ContrastiveSet
from ctxmt_fairseq.text.text_lines import PathLike


class ContrastiveFormat:
    """A format: recognises and reads its files, and says how its examples are counted.

    Attributes:
        files: what its files look like, for messages about other files.
        has_documents: whether the context is in another folder (``--documents``).
    """

    files = ""
    has_documents = False

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        """Whether a file or folder is of this format; ``content`` is that of a JSON file, and None at first,
        when all formats look at the name alone."""
        return False

    @classmethod
    def read(cls, path: Path, documents: Optional[PathLike] = None) -> ContrastiveSet:
        """Read the set in a file or folder."""
        format, *_ = FORMATS.where(lambda kind: kind is cls)
        name = os.path.basename(os.path.abspath(path)) if path.is_dir() else path.stem  # "." has none
        examples = tuple(cls.examples(path, documents))
        if not examples:
            raise BadInput("expected examples, found none", path)
        return ContrastiveSet(name, format, examples)

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterable[ContrastiveExample]:
        """Read the examples of a file or folder."""
        raise NotImplementedError

    @staticmethod
    def disc_group(example: ContrastiveExample) -> Optional[str]:
        """The group of an example for Disc. (``disc_numbers``): its distance. None leaves the example out;
        one of unknown distance may not need context."""
        return None if example.distance is None else distance_name(example.distance)

    @classmethod
    def join(cls, sets: Sequence[ContrastiveSet]) -> List[ContrastiveSet]:
        """Join those sets of this format that are parts of one suite; the others stay as they are."""
        return list(sets)


FORMATS: Registry[Type[ContrastiveFormat]] = Registry("a format of contrastive sets")


def first_object(content: Any) -> Mapping[str, Any]:
    """The first object of a JSON list; an empty one if there is none."""
    first = content[0] if isinstance(content, list) and content else None
    return first if isinstance(first, dict) else {}


DISC_NAMES = {"disc": "Disc.", "disc_avg": "Disc_avg", "disc_all_d": "Disc_all-d"}  # groups of tables


def phenomenon_name(phenomenon: str) -> str:
    """The group of a phenomenon: its own name, unless it is that of another group of tables."""
    other = phenomenon in ("all", "disc", *DISC_NAMES.values()) or phenomenon.startswith("distance ")
    return f"phenomenon {phenomenon}" if other else phenomenon


def distance_name(distance: Optional[int]) -> str:
    """The group of a distance: 0, 1, 2, 3 or >3 (focused concatenation, appendix B), a negative number for
    following sentences, or unknown."""
    if distance is None:
        return "unknown"
    return str(distance) if distance <= 3 else ">3"
