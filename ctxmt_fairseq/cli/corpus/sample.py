"""Sentences that are drawn from a corpus, each equally likely, and around each the lines of its context.

With --share each is taken with that probability until there are enough, from the corpus' beginning (MTCue's
held-out sets: --share 0.2 --with-metadata).

What is drawn is marked 1 in PREFIX.current, and what stays as context 0; lines that serve as context only are
not drawn. Lines that do not follow those before in their document are a document of their own, NAME#2, .. The
triples of Voita et al. (2018) are --context 1 --context-after 1.

Example: ctxmt corpus sample text/films --size 10000 --source-lang en --target-lang de --out text/dev
"""

from typing import TYPE_CHECKING, Iterator, Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.pairs import Part


class Sample(NewCorpus, OfCorpus):
    size: int = option("sentences to draw")
    context: int = option("sentences before each that stay as context", 5, non_negative_int, metavar="K")
    context_after: int = option("sentences after each", 0, non_negative_int, metavar="K")
    share: Optional[float] = option("take the first, each with this probability", type=option_types.share)
    with_metadata: bool = option("only sentences that have metadata")
    seed: int = option("of what is drawn", 1, option_types.seed)

    def parts(self) -> Iterator["Part"]:
        from ctxmt_fairseq.corpora.transforms.sample import sample

        how = (self.context, self.context_after, self.seed, self.share, self.with_metadata)
        return sample(self.text_files(), self.size, *how)
