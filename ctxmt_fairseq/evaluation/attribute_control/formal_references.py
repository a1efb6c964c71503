"""Formal and informal references, in which the phrases that make them so are marked: ``[F]Haben Sie[/F] das
gehört?`` (CoCoA-MT, IWSLT 2022; Nadejde et al. 2022)."""

import itertools
import re
from dataclasses import dataclass
from typing import Dict, List, Mapping, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, read_sentences

FORMAL, INFORMAL = "formal", "informal"
FORMALITIES = (FORMAL, INFORMAL)
OPEN, CLOSE = "[F]", "[/F]"
_TAG = re.compile(f"({re.escape(OPEN)}|{re.escape(CLOSE)})")


@dataclass(frozen=True)
class AnnotatedReference:
    """A reference without its tags, and the phrases that were between them, in order."""

    text: str
    phrases: Tuple[str, ...]


def parse_annotated(line: str) -> AnnotatedReference:
    """Read a line with tags."""
    parts = _TAG.split(line)  # text, tag, text, tag, ..., text
    for tag, wanted in zip(parts[1::2], itertools.cycle((OPEN, CLOSE)), strict=False):
        if tag != wanted:
            after_open = f"expected {CLOSE} before the next {OPEN}"
            raise BadInput(after_open if tag == OPEN else f"{CLOSE} without {OPEN}")
    if len(parts[1::2]) % 2:
        raise BadInput(f"{OPEN} without {CLOSE}")
    phrases = tuple(phrase.strip() for phrase in parts[2::4])
    if not all(phrases):
        raise BadInput(f"expected a phrase between {OPEN} and {CLOSE}")
    return AnnotatedReference("".join(parts[::2]).strip(), phrases)


def read_annotated(path: PathLike) -> List[AnnotatedReference]:
    """Read a file with one reference on each line."""
    references = []
    for number, line in enumerate(iterate_lines(path), 1):
        try:
            references.append(parse_annotated(line))
        except BadInput as error:
            raise BadInput(str(error), path, number) from None
    return references


def check_aligned(paths: Sequence[PathLike], counts: Sequence[int]) -> None:
    """Refuse files that have different numbers of lines, or none."""
    for path, count in zip(paths, counts, strict=True):
        if count < max(counts):
            longer = paths[counts.index(max(counts))]
            raise BadInput(f"ends after {count} lines, but {longer} goes on", path, count + 1)
    if not counts[0]:
        raise BadInput("the file has no line", paths[0])


@dataclass(frozen=True)
class ContrastiveReference:
    """A formal and an informal reference of one sentence."""

    formal: AnnotatedReference
    informal: AnnotatedReference


def read_references(
    formal: Sequence[PathLike], informal: Sequence[PathLike], beside: Mapping[str, Sequence[PathLike]]
) -> Tuple[List[ContrastiveReference], Dict[str, List[str]]]:
    """Read several annotated files of each formality, for example one for each domain, as one set; and the
    lines of further files with the same lines (``beside``), by the option that names them."""
    for option, paths in (("--informal", informal), *beside.items()):
        if len(paths) != len(formal):
            raise BadInput(f"{option}: give {len(formal)} files, as many as for --formal; found {len(paths)}")
    references: List[ContrastiveReference] = []
    lines: Dict[str, List[str]] = {option: [] for option in beside}
    for number, pair in enumerate(zip(formal, informal, strict=True)):
        sides = [read_annotated(path) for path in pair]
        others = [paths[number] for paths in beside.values()]
        texts = [read_sentences(path) for path in others]
        check_aligned([*pair, *others], [*map(len, sides), *map(len, texts)])
        references += map(ContrastiveReference, *sides)
        for option, text in zip(beside, texts, strict=True):
            lines[option] += text
    for path, name in ((formal[0], FORMAL), (informal[0], INFORMAL)):
        if not any(getattr(reference, name).phrases for reference in references):
            raise BadInput(f"expected {name} references with phrases marked by {OPEN}, found none", path)
    return references, lines
