"""One corpus from several: real and back-translated text, a large corpus and a small one of the domain.

With ratios, the numbers of sentences are in this proportion: the corpus that is largest for its ratio is
taken once, and the others are repeated; the last repetition takes documents at even distances. Without ratios
each is taken once. A corpus without document ids becomes documents of one sentence. The ids get the
number of the corpus and of the repetition before them (2.1/NAME).

Example: ctxmt corpus mix text/crawl=1 text/talks=1 --source-lang en --target-lang de --out text/train
"""

from typing import TYPE_CHECKING, Iterator, List

from ctxmt_fairseq.base.command import argument
from ctxmt_fairseq.base.paths import Weighted
from ctxmt_fairseq.corpora.corpus_command import NewCorpus

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.pairs import Part


class Mix(NewCorpus):
    corpora: List[Weighted] = argument("PREFIX[=RATIO]", "how the names of each corpus' files begin")

    def parts(self) -> Iterator["Part"]:
        from ctxmt_fairseq.corpora.transforms.mix import mix, weighted_corpora

        return mix(*weighted_corpora(self.corpora, self.languages))
