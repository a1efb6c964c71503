"""What a corpus is like: documents, sentences a document, words, subwords, lengths.

With --data, a data folder of "ctxmt preprocess", its subwords are counted, too; the histograms and the shares
of sentences longer than L are then of subwords, else of words. A corpus without document ids counts
as documents of one sentence. Nothing but the files that are asked for is written.

Example: ctxmt corpus stats text/train --source-lang en --target-lang de --data data-bin --json train.json \\
             --longer-than 50 100 --lengths train-lengths.tsv --plot train-lengths.png
"""

from typing import Callable, List, Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Folder, Output, Picture
from ctxmt_fairseq.cli.options.result_files import as_json
from ctxmt_fairseq.corpora.corpus_command import OfCorpus

COLUMNS = {"": "{name}", "total": "{total}", "mean": "{mean:.2f}", "median": "{median}", "max": "{max}"}


class Stats(OfCorpus):
    json: Optional[Output] = option("write the report there too")
    data: Optional[Folder] = option("a data folder, for its subwords")
    longer_than: List[int] = option(
        "print the share of longer sentences", [100], non_negative_int, metavar="L"
    )
    lengths: Optional[Output] = option("histograms: length, sentences, documents", metavar="FILE.tsv")
    plot: Optional[Picture] = option("draw the histograms")

    def run(self) -> None:
        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.base.tables import records_table
        from ctxmt_fairseq.corpora.statistics import draw_histograms, measure

        encode = self._encoders()
        statistics = measure(self.text_files(ids_optional=True), encode)
        record = statistics.as_dict(self.languages, self.longer_than)
        alone = record["documents of one sentence"]
        sentences = f"{record['sentences']} sentences ({record['context_only']} of them context only)"
        print(f"{sentences} in {record['documents']} documents ({alone} of one sentence)\n")
        counts = [("sentences a document", record["sentences a document"])]
        for language, side in record["sides"].items():
            counts += [(f"{language}: {kind}", side[kind]) for kind in ("words", "subwords") if kind in side]
        print(records_table([{"name": name, **count} for name, count in counts], COLUMNS), end="\n\n")
        unit = "subwords" if encode else "words"
        for language, side in record["sides"].items():
            for length, share in side["longer"].items():
                print(f"{language}: {share:.2%} of the sentences have more than {length} {unit}")
            print(f"{language}: {side['empty']} empty sentences")
        drawn = draw_histograms(statistics, self.languages) if self.plot else None
        histogram = statistics.histogram(self.languages)
        write_files([(self.json, as_json(record)), (self.lengths, histogram), (self.plot, drawn)])

    def _encoders(self) -> List[Callable]:
        """What the subwords of --data make of sentences of either side; [] without it."""
        from ctxmt_fairseq.corpora.data_folder import read_description
        from ctxmt_fairseq.corpora.subwords import Subwords

        if self.data is None:
            return []
        known = {read_description(self.data)[f"{side}_lang"] for side in ("source", "target")}
        if set(self.languages) != known:
            expected, found = (" and ".join(sorted(names)) for names in (self.languages, known))
            raise BadInput(f"expected {expected}, found {found}", self.data)
        return [Subwords.load(self.data, language).encode_all for language in self.languages]
