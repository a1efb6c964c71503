"""The first copy of every pair of a corpus: scoring the others again would cost time for nothing.

Pairs are told apart by 64 bits of their two texts. What stays is a corpus again, in which a document ends
where lines were left out (NAME#2, ..). Memory: 33 bytes for each pair.

Example: ctxmt corpus filter deduplicate text/crawl --source-lang en --target-lang cs --out text/unique
"""

import itertools
from typing import Any, Iterator

import numpy as np

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.pair_hashes import pair_hashes
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles


def add_arguments(parser: Any) -> None:
    options.add_prefix(parser)
    options.add_corpus_options(parser)


def parts(args: Any) -> Iterator[Part]:
    return deduplicate(options.text_files(args, ids_optional=True))


def deduplicate(files: TextFiles) -> Iterator[Part]:
    """The lines of a corpus without those whose two texts were there before."""
    hashes = pair_hashes(itertools.chain.from_iterable(files.documents()))
    first = np.zeros(len(hashes), bool)
    first[np.unique(hashes, return_index=True)[1]] = True
    start = 0
    for document in files.documents():
        new = first[start : start + len(document)]
        start += len(document)
        yield part_of(len(document), runs(document, np.flatnonzero(new).tolist()), "duplicates")


run = options.writes("filter", "lines", parts)
