"""Corpora from one, such as training, development and test text: whole documents go to the one or the other.

--held-out names another corpus, and what goes there: documents of a list (one id on each line), or a share of
all, drawn by a hash of the id, so the same in every language. --by film goes by the film in ids
YEAR/IMDB/FILE, whose documents then stay together.

A pair of sentences that a later --held-out has too is a duplicate. With --duplicates context, the default, it
stays as context only (PREFIX.current), so that nothing is trained on what is tested; leave-out: it goes, and
the document ends there; keep: duplicates are only counted.

Example: ctxmt corpus split text/all --held-out text/dev=0.01 --held-out text/test=test-ids.txt \\
             --source-lang en --target-lang de --out text/train
"""

from typing import List, Literal

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Named
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus


class Split(NewCorpus, OfCorpus):
    held_out: List[Named] = option(
        "documents for another corpus: a list of ids, or a share of all",
        action="append",
        metavar="PREFIX=FILE|SHARE",
    )
    by: Literal["document", "film"] = option("what ids and shares are of", "document")
    duplicates: Literal["context", "leave-out", "keep"] = option("pairs that a later corpus has", "context")

    def run(self) -> None:
        from ctxmt_fairseq.corpora.films import HeldOut
        from ctxmt_fairseq.corpora.transforms.split import split

        held_out = HeldOut(self.held_out, self.by)
        self.write(split(self.text_files(), held_out, self.duplicates), held_out)
