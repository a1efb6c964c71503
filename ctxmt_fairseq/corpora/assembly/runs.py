"""What stays of a document when lines are left out of it: runs, each a document of its own."""

import re
from typing import Iterable, List, Sequence

from ctxmt_fairseq.corpora.assembly.pairs import Pair

_RUN = re.compile(r"#\d+$")


def runs(document: Sequence[Pair], places: Iterable[int]) -> List[Pair]:
    """The lines at ``places``; from a gap on, their document is ``NAME#2``, ``NAME#3``, .."""
    kept: List[Pair] = []
    number, previous = 1, -1
    for place in sorted(places):
        number += bool(kept) and place != previous + 1
        previous = place
        name = document[place].document + (f"#{number}" if number > 1 else "")
        kept.append(document[place]._replace(document=name))
    return kept


def whole_document(name: str) -> str:
    """The id of the document that a run is of."""
    return _RUN.sub("", name)
