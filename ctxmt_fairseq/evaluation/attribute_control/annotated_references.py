"""References with marked phrases that express an attribute: ``[F]Haben Sie[/F] das gehört?`` (CoCoA-MT)."""

import re
from dataclasses import dataclass
from typing import List, Sequence, Tuple

from ctxmt_fairseq.data.documents import PathLike, iterate_lines
from ctxmt_fairseq.errors import BadInput

OPEN, CLOSE = "[F]", "[/F]"
_TAG = re.compile(f"({re.escape(OPEN)}|{re.escape(CLOSE)})")


@dataclass(frozen=True)
class AnnotatedReference:
    """A reference without its tags, and the phrases that stood between them, in order."""

    text: str
    phrases: Tuple[str, ...]


def parse_annotated(line: str) -> AnnotatedReference:
    """Take the tags out of a line.

    Raises:
        BadInput: a tag is not closed, not opened or inside another one, or there is nothing between two.
    """
    parts = _TAG.split(line)  # text, tag, text, tag, ..., text
    phrases = []
    inside = False
    for at in range(1, len(parts), 2):
        if (parts[at] == OPEN) == inside:
            raise BadInput(
                f"expected {CLOSE} before the next {OPEN}" if inside else f"{CLOSE} without {OPEN}"
            )
        if inside:
            phrases.append(parts[at - 1].strip())
        inside = not inside
    if inside:
        raise BadInput(f"{OPEN} without {CLOSE}")
    if not all(phrases):
        raise BadInput(f"expected a phrase between {OPEN} and {CLOSE}")
    return AnnotatedReference("".join(parts[::2]).strip(), tuple(phrases))


def read_annotated(path: PathLike) -> List[AnnotatedReference]:
    """One reference per line.

    Raises:
        BadInput: as ``parse_annotated``, with the line; or no such file, or not UTF-8.
    """
    references = []
    for number, line in enumerate(iterate_lines(path), 1):
        try:
            references.append(parse_annotated(line))
        except BadInput as error:
            raise BadInput(str(error), path, number) from None
    return references


def check_aligned(paths: Sequence[PathLike], counts: Sequence[int]) -> None:
    """Raises BadInput: not all files have the same number of lines, or they have none."""
    for path, count in zip(paths, counts, strict=True):
        if count < max(counts):
            longer = paths[counts.index(max(counts))]
            raise BadInput(f"ends after {count} lines, but {longer} goes on", path, count + 1)
    if not counts[0]:
        raise BadInput("expected text, found no line", paths[0])
