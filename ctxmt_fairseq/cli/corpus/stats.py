"""What a corpus is like: documents, sentences a document, words, subwords, lengths.

--data names a data folder of "ctxmt preprocess", whose subwords are counted; the histograms, and the shares
of sentences that are longer than L, are then of subwords, else of words. A corpus without document ids counts
as documents of one sentence. Nothing but the files that are asked for is written.

Example: ctxmt corpus stats text/train --source-lang en --target-lang de --data data-bin --json train.json \\
             --longer-than 50 100 --lengths train-lengths.tsv --plot train-lengths.png
"""

from typing import List, Optional

from ctxmt_fairseq.cli.options.results import as_json
from ctxmt_fairseq.command import option
from ctxmt_fairseq.corpora.corpus_command import OfCorpus
from ctxmt_fairseq.option_types import non_negative_int
from ctxmt_fairseq.paths import Folder, Output, Picture


class Stats(OfCorpus):
    json: Optional[Output] = option("write the report there too")
    data: Optional[Folder] = option("a data folder, for its subwords")
    longer_than: List[int] = option(
        "print the share of longer sentences", [100], non_negative_int, metavar="L"
    )
    lengths: Optional[Output] = option("histograms: length, sentences, documents", metavar="FILE.tsv")
    plot: Optional[Picture] = option("draw the histograms")

    def run(self) -> None:
        from ctxmt_fairseq.corpora.length_statistics import encoders, measure, picture
        from ctxmt_fairseq.files import write_files

        encode = encoders(self.data, self.languages) if self.data else []
        statistics = measure(self.text_files(ids_optional=True), encode)
        print(statistics.table(self.languages, self.longer_than))
        record = statistics.as_dict(self.languages, self.longer_than)
        drawn = picture(statistics, self.languages) if self.plot else None
        histogram = statistics.histogram(self.languages)
        write_files([(self.json, as_json(record)), (self.lengths, histogram), (self.plot, drawn)])
