"""Samples of a corpus: sentences that are drawn, and around each the lines that are read as its context."""

import itertools
import json
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Union

from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.corpora.assembly.runs import runs


class Sample(NamedTuple):
    """What is drawn.

    Attributes:
        sizes: corpus (as the route numbers them) -> sentences; other corpora stay whole.
        before, after: lines of the same document that stay as context of each.
        seed: the same seed and corpus give the same sample.
    """

    sizes: Mapping[int, int]
    before: int = 5
    after: int = 0
    seed: int = 1


def sampled(
    parts: Iterable[Part], sample: Sample, route: Callable[[str], int], folder: Union[str, Path]
) -> Iterator[Part]:
    """The parts with only the sampled sentences, marked current, and their context, marked not.

    Every sentence that may be translated is equally likely. A run of kept lines that does not follow the one
    before in its document is a document of its own, ``NAME#2``, ``NAME#3``, ..; lines that no sample reads
    are counted as "not sampled". How many there are to draw from is known at the end only: until then the
    lines lie in a file without a name in ``folder``, which vanishes however the process ends.
    """
    total = Account()
    there: Counter = Counter()
    with tempfile.TemporaryFile(dir=folder) as spool:
        for part in parts:
            total.add(part.account)
            pairs = list(part.pairs)
            for document in _documents(pairs):
                there[route(document[0].document)] += sum(pair.current for pair in document)
            spool.write(json.dumps(pairs).encode() + b"\n")
        draws: Dict[int, _Draw] = {}
        for number, wanted in sample.sizes.items():
            draws[number] = _Draw(wanted, there[number], f"{sample.seed}/{number}")
            total.remarks["sentences fewer than --sample asks for"] += max(0, wanted - there[number])
        spool.seek(0)
        for line in spool:
            pairs = [Pair(*fields) for fields in json.loads(line)]
            kept: List[Pair] = []
            for document in _documents(pairs):
                draw = draws.get(route(document[0].document))
                kept += document if draw is None else _drawn(document, draw, sample)
            total.kept -= len(pairs) - len(kept)
            total.left_out["not sampled"] += len(pairs) - len(kept)
            yield Part(kept, Account())
        yield Part([], total)


def _documents(pairs: List[Pair]) -> Iterator[List[Pair]]:
    return (list(run) for _, run in itertools.groupby(pairs, key=lambda pair: pair.document))


def _drawn(document: List[Pair], draw: "_Draw", sample: Sample) -> List[Pair]:
    """What stays of a document."""
    drawn = [place for place, pair in enumerate(document) if pair.current and draw()]
    near = {
        place
        for center in drawn
        for place in range(max(0, center - sample.before), min(len(document), center + sample.after + 1))
    }
    current = set(drawn)
    marked = [pair._replace(current=place in current) for place, pair in enumerate(document)]
    return runs(marked, near)


class _Draw:
    """Says for one sentence after the other whether it is drawn: selection sampling (Knuth, The Art of
    Computer Programming 2, section 3.4.2, algorithm S), which holds nothing in memory."""

    def __init__(self, wanted: int, there: int, seed: str):
        self._wanted, self._left, self._random = wanted, there, random.Random(seed)

    def __call__(self) -> bool:
        drawn = self._random.random() * self._left < self._wanted
        self._left -= 1
        self._wanted -= drawn
        return drawn
