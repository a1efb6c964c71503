"""Sentences that are drawn from a corpus, each equally likely, and around each the lines of its context.

With --share each is taken with that probability until there are enough, from the corpus' beginning (MTCue's
held-out sets: --share 0.2 --with-metadata).

What is drawn is marked 1 in PREFIX.current, and what stays as context 0; lines that serve as context only are
not drawn. Lines that do not follow those before in their document are a document of their own, NAME#2, .. The
triples of Voita et al. (2018) are --context 1 --context-after 1.

Example: ctxmt corpus sample text/films --size 10000 --source-lang en --target-lang de --out text/dev
"""

import random
from typing import Iterator, Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus
from ctxmt_fairseq.corpora.pairs import Pair, Part, part_of, runs


class Sample(NewCorpus, OfCorpus):
    size: int = option("sentences to draw")
    context: int = option("sentences before each that stay as context", 5, non_negative_int, metavar="K")
    context_after: int = option("sentences after each", 0, non_negative_int, metavar="K")
    share: Optional[float] = option("take the first, each with this probability", type=option_types.share)
    with_metadata: bool = option("only sentences that have metadata")
    seed: int = option("of what is drawn", 1, option_types.seed)

    def parts(self) -> Iterator[Part]:
        """Draw by selection sampling (Knuth, The Art of Computer Programming 2, section 3.4.2, algorithm S):
        one pass counts, one draws, and only one document is in memory."""
        files, draw, size = self.text_files(), random.Random(self.seed), self.size
        left = sum(self._wanted(pair) for document in files.documents() for pair in document)
        short = max(0, size - left)
        for document in files.documents():
            drawn = set()
            for place, pair in enumerate(document):
                if self._wanted(pair):
                    chance = draw.random()
                    if size and chance < self.share if self.share else chance * left < size - short:
                        drawn.add(place)
                        size -= 1
                    left -= 1
            before, after = self.context, self.context_after + 1
            near = {at for place in drawn for at in range(place - before, place + after)}
            marked = [pair._replace(current=place in drawn) for place, pair in enumerate(document)]
            kept = runs(marked, near.intersection(range(len(document))))
            yield part_of(len(document), kept, "not sampled")
        yield part_of(0, [], remarks={"sentences fewer than --size asks for": size})

    def _wanted(self, pair: Pair) -> bool:
        return pair.current and bool(pair.metadata or not self.with_metadata)
