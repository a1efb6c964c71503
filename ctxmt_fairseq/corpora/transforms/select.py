"""Whole documents of a crawl, by the mean score of their pairs (the thesis, section 3.4.4).

PREFIX is the crawl as it was before any step. Its pairs get their scores from the files by hashes of their
texts, so a duplicate has that of its first copy; of several files scores are multiplied (adq and dom), and a
pair that a file lacks, because an earlier step left it out, has the score 0. Documents whose pairs have a
mean score above the threshold are kept whole.

--document-scores writes the score of every document, to choose a threshold by: id, pairs, mean, 1 if kept.
Memory: 16 bytes for each score.

Example: ctxmt corpus filter select text/crawl --scores adequacy.tsv domain.tsv --threshold 0.3 \\
             --document-scores documents.tsv --source-lang en --target-lang cs --out text/train
"""

import contextlib
from typing import BinaryIO, Iterator, List, Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.option_types import number
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, OfCorpus
from ctxmt_fairseq.corpora.pairs import Part, part_of


class Select(NewCorpus, OfCorpus):
    kind = "filter"

    scores: List[Input] = option("of the steps adequacy and domain")
    threshold: float = option("documents with a higher mean are kept", type=number(0, 1))
    document_scores: Optional[Output] = option("write them there", metavar="FILE.tsv")

    def run(self) -> None:
        from ctxmt_fairseq.base.files import check_outputs, open_outputs
        from ctxmt_fairseq.corpora.writer import corpus_files

        check_outputs(self.document_scores, *corpus_files(self.out, self.languages))
        with contextlib.ExitStack() as stack:
            report = None
            if self.document_scores:
                report = stack.enter_context(open_outputs([self.document_scores]))[self.document_scores]
            self.write(self.parts(report))

    def parts(self, report: Optional[BinaryIO] = None) -> Iterator[Part]:
        """Keep the documents whose pairs have a mean score above the threshold; the report gets a line for
        every document: id, pairs, mean score, and 1 if it is kept, else 0."""
        import numpy as np

        from ctxmt_fairseq.corpora.transforms.pair_scores import ScoreTable, pair_hashes

        tables = [ScoreTable(path) for path in self.scores]
        for document in self.text_files().documents():
            hashes = pair_hashes(document)
            scores = np.prod([table.of(hashes) for table in tables], axis=0)
            kept = bool(scores.mean() > self.threshold)
            if report is not None:
                name = document[0].document.replace("\t", " ")
                report.write(f"{name}\t{len(document)}\t{scores.mean():.6f}\t{int(kept)}\n".encode())
            remarks = {"pairs without a score": int((scores == 0).sum())}
            yield part_of(len(document), document if kept else [], "in documents with a low score", remarks)
