"""Scores by the length of the source sentence: are long sentences translated worse, and by which system?

The corpus score of each bucket of lengths (words; characters where there are no blanks between words), with
the 95 % band of a bootstrap over its sentences, for every translation (Voita et al. 2018, figure 4): of this
trained model, not of other seeds.

Example: ctxmt analyse lengths test.en test.fr baseline.hyp context.hyp --edges 5 10 20 --output lengths.png
"""

from typing import Any, List, Optional, Tuple

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import whole_number
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.options.result_files import ChartFiles
from ctxmt_fairseq.cli.options.scoring import Metric


class Lengths(Command):
    source: Input = argument("SRC", "the sentences that were translated, one per line")
    reference: Input = argument("REF", "line by line as SRC")
    systems: List[Input] = argument("HYP", "translations, line by line as SRC")
    edges: List[int] = option("the last length of each bucket", [10, 20, 30, 40, 50])
    current: Optional[Input] = option("0 or 1 per line: lines marked 0 are left out")
    scoring: Metric
    samples: int = option("of the bootstrap", 1000, whole_number(100, 10**6))
    seed: int = option("of the samples", 1, option_types.seed)
    files: ChartFiles

    def run(self) -> None:
        from ctxmt_fairseq.analysis import length_curve as curve
        from ctxmt_fairseq.base.plots.charts import draw_chart
        from ctxmt_fairseq.base.tables import csv_text
        from ctxmt_fairseq.evaluation.metrics import read_translation

        if len(set(self.systems)) < len(self.systems):
            raise BadInput("give each HYP once")
        metric, name = self.scoring.measure(), self.scoring.metric
        against = [self.reference, self.source]
        texts = [read_translation(path, against, current=self.current) for path in self.systems]
        how = metric, self.edges, self.samples, self.seed
        found = curve.length_curve(texts[0].references[1], self.systems, texts, *how)
        print(curve.length_table(found))
        print(f"\n{name}: {metric.signature}; {self.samples} samples, seed {self.seed}")
        records = [one._asdict() for one in found if one.sentences]
        files: List[Tuple[str, Any]] = []
        if self.files.output:
            points = curve.length_points(found, name)
            contents = draw_chart(points, "words of the source; sentences"), csv_text(records)
            files += zip(self.files.output.files(), contents, strict=True)
        head = {"metric": name, "signature": metric.signature, "samples": self.samples, "seed": self.seed}
        self.files.write({**head, "buckets": records}, *files)
