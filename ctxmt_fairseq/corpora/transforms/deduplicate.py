"""The first copy of every pair of a corpus: scoring the others again would cost time for nothing.

Pairs are told apart by 64 bits of their two texts. What stays is a corpus again, in which a document ends
where lines were left out (NAME#2, ..). Memory: 33 bytes for each pair.

Example: ctxmt corpus filter deduplicate text/crawl --source-lang en --target-lang cs --out text/unique
"""

import itertools
from typing import Iterator

from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs


class Deduplicate(NewCorpus, OfCorpus):
    kind = "filter"

    def parts(self) -> Iterator[Part]:
        import numpy as np

        from ctxmt_fairseq.corpora.pair_hashes import pair_hashes

        files = self.text_files(ids_optional=True)
        hashes = pair_hashes(itertools.chain.from_iterable(files.documents()))
        first = np.zeros(len(hashes), bool)
        first[np.unique(hashes, return_index=True)[1]] = True
        start = 0
        for document in files.documents():
            new = first[start : start + len(document)]
            start += len(document)
            yield part_of(len(document), runs(document, np.flatnonzero(new).tolist()), "duplicates")
