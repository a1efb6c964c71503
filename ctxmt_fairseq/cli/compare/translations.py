"""Compare translations of one text: paired bootstrap (interval of the difference, share of samples that the
later system wins, p) and approximate randomization (p, which the correction and the stars are of). That is
about two trained models. NAME=HYP several times gives the runs (seeds) of a system: intervals and p are then
over seeds and units together (Dorfman-Berbaum-Metz analysis of variance, of jackknife pseudovalues). If
systems have as many runs, the n-th runs of all belong to one seed.

With --docids whole documents are resampled, because the sentences of a document are not independent; --unit
sentence resamples sentences as most papers do, and both can be given. Scores are sacrebleu's corpus scores in
either case.

Example: ctxmt compare translations test.fr baseline.hyp context.hyp --docids test.docids --json compared.json
"""

from typing import List, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Input, Named
from ctxmt_fairseq.cli.options.result_files import RUNS, Comparisons, TableStyle
from ctxmt_fairseq.cli.options.scoring import Comet, Resampling, Tokens


class Translations(Command):
    reference: Input = argument("REF", "one sentence per line")
    systems: List[Named] = argument("HYP", f"line by line as REF: {RUNS.format('HYP')}")
    docids: Optional[Input] = option("document ids, one per line")
    current: Optional[Input] = option("0 or 1 per line: lines marked 0 are left out")
    metric: List[str] = option(
        "bleu, chrf1, chrf2, chrf3, comet (default: bleu chrf2, with COMET comet too)", [], metavar="NAME"
    )
    tokens: Tokens
    data: Optional[Folder] = option("the systems' data folder, as for ctxmt score")
    unit: List[str] = option(
        "what is resampled: document, sentence (default: document with --docids)", [], metavar="NAME"
    )
    resampling: Resampling
    results: Comparisons
    comet: Comet
    style: TableStyle

    def run(self) -> None:
        from ctxmt_fairseq.analysis.system_names import distinct_runs, files_of
        from ctxmt_fairseq.base.tables import remark
        from ctxmt_fairseq.corpora.text_steps import steps_of_language
        from ctxmt_fairseq.evaluation.metrics import read_translation, warn_of_other_letters
        from ctxmt_fairseq.evaluation.significance import systems as compared
        from ctxmt_fairseq.evaluation.significance.measures import CometMeasure, Measure, measure
        from ctxmt_fairseq.evaluation.significance.seeds import about

        units = list(dict.fromkeys(self.unit or ["document" if self.docids else "sentence"]))
        models = self.comet.models
        metrics = list(dict.fromkeys(self.metric or ["bleu", "chrf2", *(["comet"] if models else [])]))
        if ("comet" in metrics) != bool(models) or len(models) > 1:
            raise BadInput("--metric comet: give one model, as --comet, --quality-estimation or --comet-json")
        steps = steps_of_language(self.data, "target")
        how = self.tokens.tokenize or steps.bleu_tokenizer, self.tokens.lowercase or steps.lowercase
        measures: List[Measure] = [measure(name, *how) for name in metrics if name != "comet"]
        beside = self.docids, self.current
        runs = distinct_runs(self.systems)
        names, paths = zip(*runs, strict=True)
        texts = [read_translation(path, [self.reference], *beside, steps.surface) for path in paths]
        written = [*(text.hypotheses for text in texts), *texts[0].references]
        warn_of_other_letters([*paths, self.reference], written)
        if models:
            scores = self.comet.scores(paths, self.reference, *beside)
            measures.append(CometMeasure([score for (score,) in scores]))
        draws = self.resampling
        comparisons = compared.compare_translations(
            names, texts, measures, units, draws.samples, draws.seed, self.results.all_pairs
        )
        print(compared.comparison_table(comparisons))
        ratios = {path: compared.length_ratio(text) for path, text in zip(paths, texts, strict=True)}
        shown = [
            f"{name} {'-' if (of := ratios[path]) is None else format(of, '.3f')}" for name, path in runs
        ]
        note = about(names, (each.result for each in comparisons), draws)
        print(remark(f"\nlength ratio: {', '.join(shown)}\n{note}"))
        for each in measures:
            print(remark(f"{each.name}: {each.signature}"))
        record = {
            "comparisons": [each.as_dict() for each in comparisons],
            "length_ratio": ratios,
            "about": note,
            "files": files_of(runs),
        }
        signatures = {"signatures": {each.name: each.signature for each in measures}}
        self.results.write({**record, **draws.settings(), **signatures})
