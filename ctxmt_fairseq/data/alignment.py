"""Word alignments: a line for each pair of sentences, pairs ``i-j`` of the i-th word of the source and the
j-th of the target, white-space words counted from 0, as fast_align, eflomal and awesome-align write them."""

import re
from typing import Dict, Iterable, List, Sequence, Tuple

from ctxmt_fairseq.data.text_lines import PathLike, iterate_lines
from ctxmt_fairseq.errors import BadInput

_PAIR = re.compile(r"(\d{1,9})-(\d{1,9})")


def alignment_line(pairs: Iterable[Tuple[int, int]]) -> str:
    """The pairs of a line as ``read_alignment`` reads them, in their order."""
    return " ".join(f"{i}-{j}" for i, j in sorted(set(pairs)))


def read_alignment(
    path: PathLike, sources: Sequence[str], targets: Sequence[str]
) -> List[Dict[int, List[int]]]:
    """For every line, the words of the target that each aligned word of the source has, in their order.

    Raises:
        BadInput: another number of lines, no pairs, or a word that the sentence does not have.
    """
    found: List[Dict[int, List[int]]] = []
    for number, line in enumerate(iterate_lines(path), 1):
        if number > len(sources):
            raise BadInput(f"expected {len(sources)} lines, one for each sentence, found more", path)
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
    if len(found) < len(sources):
        raise BadInput(f"expected {len(sources)} lines, one for each sentence, found {len(found)}", path)
    return found
