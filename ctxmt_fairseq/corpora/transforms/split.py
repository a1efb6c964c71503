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

from array import array
from typing import Any, Iterator, List, Literal

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Named
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs


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

        held_out = HeldOut(self.held_out, self.by)
        self.write(self.documents(held_out), held_out)

    def documents(self, held_out: Any) -> Iterator[Part]:
        """Mark or leave out what later corpora hold out; ``held_out`` says where a document goes. A pair is
        compared by 64 bits, in memory for held-out pairs; lines that are only context do not count."""
        import numpy as np

        from ctxmt_fairseq.corpora.transforms.pair_scores import among, pair_hash, pair_hashes

        files, missing = self.text_files(), set(held_out.listed)
        own = [array("Q") for _ in held_out.prefixes]  # the hashes of each held-out corpus
        for document in files.documents():
            name = document[0].document
            held_out.follow(name)
            missing.discard(held_out.key(name))
            if number := held_out(name):
                own[number - 1].extend(pair_hash(pair) for pair in document if pair.current)
        later = [np.zeros(0, np.uint64)]  # for each corpus the sorted hashes of those behind it
        for hashes in reversed(own):
            later.insert(0, np.union1d(later[0], np.array(hashes, np.uint64)))
        for document in files.documents():
            known = later[held_out(document[0].document)]
            double = among(pair_hashes(document), known) & [pair.current for pair in document]
            if self.duplicates == "leave-out":
                kept = runs(document, np.flatnonzero(~double).tolist())
                yield part_of(len(document), kept, "duplicates of held-out pairs")
                continue
            if self.duplicates == "context":
                document = [pair._replace(current=pair.current and not twice)
                            for pair, twice in zip(document, double, strict=True)]  # fmt: skip
            found = {f"duplicates of held-out pairs ({self.duplicates})": int(double.sum())}
            yield part_of(len(document), document, remarks=found)
        yield part_of(0, [], remarks={"listed, but not in the corpus": len(missing)})
