"""Scores of the sentences whose pronouns refer to something in the sentences before (Voita et al. 2018,
tables 3 to 5): by pronoun; by pronoun whose antecedent is more than a pronoun; and of these, with --alignment
and --annotation, by the gender and number of the pronoun's translation. Systems are compared with the first:
approximate randomization over sentences, Holm's correction. NAME=HYP several times gives the runs (seeds) of
a system, which are then compared over seeds and sentences together, as in ctxmt compare translations.

--coreference has a JSON line for each pronoun; lines count from 1, places are characters of SRC's lines:
  {"line": 7, "pronoun": [0, 2], "source": "corenlp",
   "antecedent": {"line": 6, "span": [12, 20], "nominal": true}}       (or null)
--alignment has pairs i-j for each line, white-space words of SRC and REF counted from 0; --annotation a line
{"words": [{"text", "start", "end", "pos", "gender", "number"}]} for each line of REF. ctxmt corpus align and
ctxmt corpus annotate make them; files of other tools do as well.

Example: ctxmt compare pronouns test.en test.fr baseline.hyp context.hyp --coreference test.coref.jsonl
"""

from typing import List, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Named
from ctxmt_fairseq.cli.options.result_files import Json, TableStyle
from ctxmt_fairseq.cli.options.scoring import Metric, Resampling


class Pronouns(Command):
    source: Input = argument("SRC", "one sentence per line")
    reference: Input = argument("REF", "line by line as SRC")
    systems: List[Named] = argument("HYP", "line by line as SRC, or NAME=HYP")
    coreference: Input = option("pronouns and antecedents")
    coreference_source: Optional[str] = option(
        "the source in it whose antecedents count (default: the only one)", metavar="NAME"
    )
    alignment: Optional[Input] = option("words of SRC and REF that translate each other")
    annotation: Optional[Input] = option("gender and number of REF's words")
    least: int = option("leave out subsets of fewer sentences", 1)
    scoring: Metric
    resampling: Resampling
    results: Json
    style: TableStyle

    def run(self) -> None:
        from ctxmt_fairseq.analysis.system_names import distinct_runs
        from ctxmt_fairseq.base.tables import remark
        from ctxmt_fairseq.evaluation.metrics import read_translation
        from ctxmt_fairseq.evaluation.significance import subsets as compared
        from ctxmt_fairseq.evaluation.significance.seeds import about
        from ctxmt_fairseq.text.alignment import read_alignment
        from ctxmt_fairseq.text.annotation import read_annotation
        from ctxmt_fairseq.text.coreference import only_source, read_coreference

        if (self.alignment is None) != (self.annotation is None):
            raise BadInput("give --alignment and --annotation together")
        metric = self.scoring.measure()
        names, paths = zip(*distinct_runs(self.systems), strict=True)
        texts = [read_translation(path, [self.reference, self.source]) for path in paths]
        targets, sources = texts[0].references
        references = read_coreference(self.coreference, sources)
        chosen = only_source(references, self.coreference_source, "--coreference-source", self.coreference)
        references = [reference for reference in references if reference.source == chosen]
        kinds = []
        if self.alignment and self.annotation:
            pairs = read_alignment(self.alignment, sources, targets)
            lines = list(zip(sources, targets, pairs, read_annotation(self.annotation, targets), strict=True))
            kinds = [compared.translated_as(one, *lines[one.line]) for one in references]
        subsets = compared.pronoun_subsets(references, kinds)
        subsets = [subset for subset in subsets if len(subset.lines) >= self.least]
        if not subsets:
            expected = "expected pronouns with an antecedent in an earlier line, found none"
            raise BadInput(expected, self.coreference)
        draws = self.resampling
        found = compared.compare_subsets(names, texts, subsets, metric, draws.samples, draws.seed)
        systems = list(dict.fromkeys(names))
        print(compared.subsets_table(systems, found))
        note = about(names, (each.result for subset in found for each in subset.comparisons), draws)
        print(remark(f"\n{self.scoring.metric}: {metric.signature}\n{note}".rstrip()))
        scores = {"subsets": compared.subset_records(systems, found)}
        head = {"metric": self.scoring.metric, "signature": metric.signature, "about": note}
        self.results.write({**head, **draws.settings(), **scores})
