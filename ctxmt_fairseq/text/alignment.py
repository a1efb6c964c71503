"""Word alignments as fast_align, eflomal and awesome-align write them: a line for each pair of sentences has
pairs ``i-j`` of the i-th word of the source and the j-th of the target, counted from 0."""

import re
from typing import Dict, Iterable, List, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, one_each

_PAIR = re.compile(r"(\d{1,9})-(\d{1,9})")


def alignment_line(pairs: Iterable[Tuple[int, int]]) -> str:
    """Write the pairs of a line in their order, as ``read_alignment`` reads them."""
    return " ".join(f"{i}-{j}" for i, j in sorted(set(pairs)))


def read_alignment(
    path: PathLike, sources: Sequence[str], targets: Sequence[str]
) -> List[Dict[int, List[int]]]:
    """Read for every line which words of the target each aligned word of the source has, in their order."""
    found: List[Dict[int, List[int]]] = []
    for number, line in enumerate(one_each(iterate_lines(path), len(sources), path), 1):
        limits = len(sources[number - 1].split()), len(targets[number - 1].split())
        pairs: Dict[int, List[int]] = {}
        for text in line.split():
            match = _PAIR.fullmatch(text)
            if not match:
                raise BadInput(f"expected pairs such as 0-1, found {text[:40]!r}", path, number)
            i, j = int(match[1]), int(match[2])
            if i >= limits[0] or j >= limits[1]:
                raise BadInput(f"expected words of {limits[0]} and {limits[1]}, found {text}", path, number)
            pairs.setdefault(i, []).append(j)
        found.append({i: sorted(set(words)) for i, words in pairs.items()})
    return found
