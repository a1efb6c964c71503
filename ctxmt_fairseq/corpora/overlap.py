"""Counts what splits of a corpus share, so that nothing is trained on what is tested."""

import functools
import itertools
import re
import unicodedata
from collections import Counter
from typing import Any, Dict, Iterable, Iterator, List, Set, Tuple

from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.text.languages import without_loose_blanks

_KINDS = ("pairs", "sources", "documents")  # each as it is, then all but for case and punctuation
_SIGNS = ("P", "Sc", "Sk", "Sm")  # how categories of Unicode begin; no marks, which tell words apart
_FIRST_UNSPACED = "\u0e00"  # before it no script is without blanks
_NORMALISED_PAIR, _EXACT_DOCUMENT = 3, 2


@functools.cache
def _between() -> "re.Pattern[str]":
    """Blanks and punctuation of all scripts (as a class of characters twice as fast as by properties)."""
    signs = (each for each in map(chr, range(0x10000)) if unicodedata.category(each).startswith(_SIGNS))
    return re.compile(rf"[\s\xa6\xa9\xae\xb0\u2000-\u206f{re.escape(''.join(signs))}]+")


def _bare(text: str) -> str:
    """A text without case and punctuation."""
    bare = _between().sub(" ", unicodedata.normalize("NFC", text).casefold()).strip()
    return without_loose_blanks(bare) if max(bare, default="") >= _FIRST_UNSPACED else bare


class Overlap:
    """What splits share, and how many lines became context only. The last split is read first: hashes of what
    was read stay in memory."""

    def __init__(self) -> None:
        self._known: Dict[str, List[Counter[int]]] = {}
        self._found: Dict[Tuple[str, str], List[Set[int]]] = {}
        self.marked = 0

    def pairs(
        self, split: str, pairs: Iterable[Pair], last: bool = False, mark: bool = False
    ) -> Iterator[Pair]:
        """Pass on a split's pairs, and compare them with the splits before; with ``mark`` make those that are
        shared (but for case and punctuation) context only. Lines that are only context count for their
        documents alone."""
        known = self._known.copy()
        own = self._known[split] = [Counter[int]() for _ in range(2 * len(_KINDS))]
        found = {other: self._found.setdefault((split, other), [set() for _ in own]) for other in known}

        def seen(kind: int, key: int) -> bool:
            shared = [other for other, counts in known.items() if key in counts[kind]]
            for other in shared:
                found[other][kind].add(key)
            if not last:
                own[kind][key] += 1
            return bool(shared)

        for _, document in itertools.groupby(pairs, key=lambda pair: pair.document):
            exact = normalised = 0
            for pair in document:
                texts = [_bare(text) or text for text in pair[:2]]
                exact, normalised = hash((exact, pair.source)), hash((normalised, texts[0]))
                shared = False
                if pair.current and (pair.source or pair.target):
                    seen(0, hash((pair.source, pair.target)))
                    seen(1, hash(pair.source))
                    seen(4, hash(texts[0]))
                    shared = seen(_NORMALISED_PAIR, hash((*texts,)))
                if mark and shared:
                    pair = pair._replace(current=False)
                    self.marked += 1
                yield pair
            seen(_EXACT_DOCUMENT, exact)
            seen(_EXACT_DOCUMENT + len(_KINDS), normalised)

    def as_dict(self) -> Dict[str, Dict[str, Dict[str, List[int]]]]:
        """What a split has of another one: how many of its pairs, sources and documents as they are, how many
        but for case and punctuation, and of how many; {"train": {"test": {"pairs": [3, 4, 100], ...}}}."""
        counts: Dict[str, Dict[str, Dict[str, List[int]]]] = {}
        for (split, other), found in reversed(self._found.items()):
            known, half = self._known[other], len(_KINDS)
            sums = [sum(map(kind.__getitem__, keys)) for kind, keys in zip(known, found, strict=True)]
            counts.setdefault(split, {})[other] = {
                name: [sums[at], sums[at + half], known[at].total()] for at, name in enumerate(_KINDS)
            }
        return counts


def overlap_lines(counts: Dict[str, Any]) -> List[str]:
    """``Overlap.as_dict`` as text."""
    return [
        f"{split} has of {other}: "
        + ", ".join(f"{exact} ({alike}) of {number} {kind}" for kind, (exact, alike, number) in of.items())
        for split, others in counts.items()
        for other, of in others.items()
    ]
