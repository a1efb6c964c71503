"""Ids that tell documents apart where one file is aligned with several."""

import itertools
from typing import Dict, Iterable, Iterator, List

from ctxmt_fairseq.corpora.assembly.pairs import Pair, Part


def distinct(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, each of one ``DocumentBuilder``, with the numbers of documents of one name going on.

    OPUS aligns some files with several of the other language. Their documents would have the same ids, and
    become one where they stand behind each other.
    """
    numbers: Dict[str, int] = {}
    for part in parts:
        if not part.pairs:
            yield part
            continue
        name = part.pairs[0].document
        before = numbers.get(name, 0)
        pairs: List[Pair] = []
        runs = itertools.groupby(part.pairs, key=lambda pair: pair.document)
        for number, (document, run) in enumerate(runs, before + 1):
            new = f"{name}/{number}" if before else document
            pairs += [pair._replace(document=new) for pair in run] if before else run
            numbers[name] = number
        yield Part(pairs, part.account)
