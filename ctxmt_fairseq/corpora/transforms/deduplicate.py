"""Keeps the first copy of every pair of a corpus."""

import itertools
from typing import Iterator

import numpy as np

from ctxmt_fairseq.corpora.pair_hashes import pair_hashes
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles


def deduplicate(files: TextFiles) -> Iterator[Part]:
    """Leave out the lines whose two texts were there before."""
    hashes = pair_hashes(itertools.chain.from_iterable(files.documents()))
    first = np.zeros(len(hashes), bool)
    first[np.unique(hashes, return_index=True)[1]] = True
    start = 0
    for document in files.documents():
        new = first[start : start + len(document)]
        start += len(document)
        yield part_of(len(document), runs(document, np.flatnonzero(new).tolist()), "duplicates")
