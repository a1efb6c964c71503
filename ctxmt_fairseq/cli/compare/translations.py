"""Compare translations of one text: paired bootstrap (interval of the difference, share of samples that the
later system wins, p) and approximate randomization (p, which the correction and the stars are of).

With --docids whole documents are resampled, for the sentences of a document are not independent; --unit
sentence resamples sentences as most papers do, and both can be given. Scores are sacrebleu's corpus scores in
either case.

Example: ctxmt compare translations test.fr baseline.hyp context.hyp --docids test.docids --json compared.json
"""

from typing import List, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Input
from ctxmt_fairseq.cli.options.result_files import Comparisons
from ctxmt_fairseq.cli.options.scoring import Comet, Resampling, Tokens


class Translations(Command):
    reference: Input = argument("REF", "one sentence per line")
    systems: List[Input] = argument("HYP", "two or more translations, line by line as REF")
    docids: Optional[Input] = option("document ids, one per line")
    current: Optional[Input] = option("0 or 1 per line: lines marked 0 are left out")
    metric: List[str] = option(
        "bleu, chrf1, chrf2, chrf3, comet (default: bleu chrf2, with --comet comet too)", [], metavar="NAME"
    )
    tokens: Tokens
    data: Optional[Folder] = option("the systems' data folder: --lowercase if its text is lower-cased")
    unit: List[str] = option(
        "resampled: document, sentence (default: document with --docids)", [], metavar="NAME"
    )
    resampling: Resampling
    results: Comparisons
    comet: Comet

    def run(self) -> None:
        from ctxmt_fairseq.corpora.text_steps import steps_of_language
        from ctxmt_fairseq.evaluation.metrics import read_translation
        from ctxmt_fairseq.evaluation.significance import translations as compared
        from ctxmt_fairseq.evaluation.significance.measures import CometMeasure, Measure, measure

        units = list(dict.fromkeys(self.unit or ["document" if self.docids else "sentence"]))
        models = self.comet.models
        metrics = list(dict.fromkeys(self.metric or ["bleu", "chrf2", *(["comet"] if models else [])]))
        if ("comet" in metrics) != bool(models) or len(models) > 1:
            raise BadInput("--metric comet: expected one model as --comet or --quality-estimation")
        steps = steps_of_language(self.data, "target")
        how = self.tokens.tokenize, self.tokens.lowercase or steps.lowercase
        measures: List[Measure] = [measure(name, *how) for name in metrics if name != "comet"]
        beside = self.docids, self.current
        texts = [read_translation(path, [self.reference], *beside, steps.surface) for path in self.systems]
        if models:
            scores = self.comet.scores(self.systems, self.reference, *beside)
            measures.append(CometMeasure([score for (score,) in scores]))
        draws = self.resampling
        comparisons = compared.compare_translations(
            *(self.systems, texts, measures, units, draws.samples, draws.seed, self.results.all_pairs)
        )
        print(compared.comparison_table(comparisons))
        ratios = {name: compared.length_ratio(text) for name, text in zip(self.systems, texts, strict=True)}
        shown = [f"{name} {'-' if ratio is None else format(ratio, '.3f')}" for name, ratio in ratios.items()]
        print(f"\nlength ratio: {', '.join(shown)}\n{draws}")
        for each in measures:
            print(f"{each.name}: {each.signature}")
        record = {"comparisons": [each.as_dict() for each in comparisons], "length_ratio": ratios}
        signatures = {"signatures": {each.name: each.signature for each in measures}}
        self.results.write({**record, **draws.settings(), **signatures})
