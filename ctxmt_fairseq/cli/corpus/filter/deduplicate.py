"""The first copy of every pair of a corpus: scoring the others again would cost time for nothing.

Pairs are told apart by 64 bits of their two texts. What stays is a corpus again, in which a document ends
where lines were left out (NAME#2, ..). Memory: 33 bytes for each pair.

Example: ctxmt corpus filter deduplicate text/crawl --source-lang en --target-lang cs --out text/unique
"""

from typing import TYPE_CHECKING, Iterator

from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.pairs import Part


class Deduplicate(NewCorpus, OfCorpus):
    kind = "filter"

    def parts(self) -> Iterator["Part"]:
        from ctxmt_fairseq.corpora.transforms.deduplicate import deduplicate

        return deduplicate(self.text_files(ids_optional=True))
