"""Word alignments as fast_align, eflomal and awesome-align write them: a line for each pair of sentences has
pairs ``i-j`` of the i-th word of the source and the j-th of the target, counted from 0."""

import re
from typing import Dict, Iterable, Iterator, List, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, lines_together, one_each

_PAIR = re.compile(r"(\d{1,9})-(\d{1,9})")


def alignment_line(pairs: Iterable[Tuple[int, int]]) -> str:
    """Write the pairs of a line in their order, as ``read_alignment`` reads them."""
    return " ".join(f"{i}-{j}" for i, j in sorted(set(pairs)))


def read_alignment(
    path: PathLike, sources: Sequence[str], targets: Sequence[str]
) -> List[Dict[int, List[int]]]:
    """Read for every line which words of the target each aligned word of the source has, in their order."""
    lines = one_each(iterate_lines(path), len(sources), path)
    rows = enumerate(zip(lines, sources, targets, strict=True), 1)
    return [_pairs(text, source, target, path, number) for number, (text, source, target) in rows]


def iterate_alignment(path: PathLike, source: PathLike, target: PathLike) -> Iterator[Dict[int, List[int]]]:
    """Yield for every line of two files of text what ``read_alignment`` reads."""
    for number, (pairs, *texts) in enumerate(lines_together(path, source, target), 1):
        yield _pairs(pairs, texts[0], texts[1], path, number)


def _pairs(text: str, source: str, target: str, path: PathLike, number: int) -> Dict[int, List[int]]:
    limits = len(source.split()), len(target.split())
    pairs: Dict[int, List[int]] = {}
    for part in text.split():
        match = _PAIR.fullmatch(part)
        if not match:
            raise BadInput(f"expected pairs such as 0-1, found {part[:40]!r}", path, number)
        i, j = int(match[1]), int(match[2])
        if i >= limits[0] or j >= limits[1]:
            raise BadInput(f"expected words of {limits[0]} and {limits[1]}, found {part}", path, number)
        pairs.setdefault(i, []).append(j)
    return {i: sorted(set(words)) for i, words in pairs.items()}
