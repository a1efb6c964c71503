"""Draws sentences from a corpus, with their context."""

import random
from typing import Iterator, Optional

from ctxmt_fairseq.corpora.pairs import Pair, Part, part_of, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles


def sample(
    files: TextFiles,
    size: int,
    before: int = 5,
    after: int = 0,
    seed: int = 1,
    share: Optional[float] = None,
    described: bool = False,
) -> Iterator[Part]:
    """Draw ``size`` sentences (if ``described``, of those with metadata) by selection sampling (Knuth, The
    Art of Computer Programming 2, section 3.4.2, algorithm S): one pass counts, one draws, and only one
    document is in memory. With a ``share`` each sentence is drawn with this probability instead, until there
    are ``size``."""

    def wanted(pair: Pair) -> bool:
        return pair.current and bool(pair.metadata or not described)

    left = sum(wanted(pair) for document in files.documents() for pair in document)
    short = max(0, size - left)
    draw = random.Random(seed)
    for document in files.documents():
        drawn = set()
        for place, pair in enumerate(document):
            if wanted(pair):
                chance = draw.random()
                if size and chance < share if share else chance * left < size - short:
                    drawn.add(place)
                    size -= 1
                left -= 1
        near = {at for place in drawn for at in range(place - before, place + after + 1)}
        marked = [pair._replace(current=place in drawn) for place, pair in enumerate(document)]
        kept = runs(marked, near.intersection(range(len(document))))
        yield part_of(len(document), kept, "not sampled")
    part = part_of(0, [])
    part.account.remarks["sentences fewer than --size asks for"] += size
    yield part
