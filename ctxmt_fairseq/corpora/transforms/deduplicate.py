"""The first copy of every pair of a corpus: scoring the others again would cost time for nothing.

Pairs are told apart by 64 bits of their two texts; a copy that is only context is no first one if there is
another. What stays is a corpus again, in which a document ends where lines were left out (NAME#2, ..).
Memory: 35 bytes for each pair.

Example: ctxmt corpus filter deduplicate text/crawl --source-lang en --target-lang cs --out text/unique
"""

from typing import Iterator

from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs


class Deduplicate(NewCorpus, OfCorpus):
    kind = "filter"

    def parts(self) -> Iterator[Part]:
        import numpy as np

        from ctxmt_fairseq.corpora.transforms.pair_scores import pair_hash

        files = self.text_files(ids_optional=True)
        copies = ((pair_hash(pair), not pair.current) for document in files.documents() for pair in document)
        pairs = np.fromiter(copies, [("hash", np.uint64), ("context", bool)])
        order = np.lexsort((pairs["context"], pairs["hash"]))
        hashes = pairs["hash"][order]
        first = np.zeros(len(pairs), bool)
        first[order] = np.append(True, hashes[1:] != hashes[:-1])
        start = 0
        for document in files.documents():
            new = first[start : start + len(document)]
            start += len(document)
            yield part_of(len(document), runs(document, np.flatnonzero(new).tolist()), "duplicates")
