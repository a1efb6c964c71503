"""BLEU, chrF and TER of a translation against one or more references, with sacrebleu's signatures; COMET.

Scores by sentences always; with --docids also BLEU by documents (their sentences joined by spaces). --data
names the system's data folder: where that is lower-cased (ctxmt preprocess --lowercase), case is ignored.

COMET (--comet, --quality-estimation) reads text as it is, the first REF, and --source. Its scores are kept in
HYP.comet.jsonl by content: what has its score is not scored again. With --comet-context the sentences before
each one stand before it in the source, and those of the reference before translation and reference (Vernikos
et al. 2022); without references, those of the translation.

Example: ctxmt score hyp.fr test.fr --docids test.docids --data data-bin --json scores.json
"""

import sys
from typing import List, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Folder, Input
from ctxmt_fairseq.cli.options.result_files import Json, TableStyle
from ctxmt_fairseq.cli.options.scoring import Comet, Tokens

TOKENIZED = 100  # lines, as many as sacrebleu waits for


class Score(Command):
    hypothesis: Input = argument("HYP", "the translation, one sentence per line")
    references: List[Input] = argument("REF", "references, line by line as HYP", [])
    docids: Optional[Input] = option("document ids, one per line: adds BLEU by documents")
    current: Optional[Input] = option("0 or 1 per line: lines marked 0 are left out")
    tokens: Tokens
    data: Optional[Folder] = option(
        "the system's data folder: of its language is BLEU's tokenizer; if lower-cased, case is ignored"
    )
    bootstrap: int = option(
        "95 % intervals from N samples of the sentences (not of trained models); their seed, 12345 or "
        "SACREBLEU_SEED, is in the signature",
        0,
        non_negative_int,
    )
    results: Json
    comet: Comet
    style: TableStyle

    def run(self) -> None:
        from dataclasses import asdict

        from ctxmt_fairseq.base.tables import remark
        from ctxmt_fairseq.corpora.text_steps import steps_of_language
        from ctxmt_fairseq.evaluation import metrics

        if self.bootstrap == 1:
            raise BadInput("--bootstrap 1: give 2 samples or more, or 0 for none")
        if not (self.references or self.comet.quality_estimation or self.comet.comet_json):
            raise BadInput("give one or more references, --quality-estimation or --comet-json")
        beside = self.docids, self.current
        (comet,) = self.comet.scores([self.hypothesis], next(iter(self.references), None), *beside)
        steps = steps_of_language(self.data, "target")
        translation = metrics.read_translation(self.hypothesis, self.references, *beside, steps.surface)
        metrics.warn_of_other_letters(
            [self.hypothesis, *self.references], [translation.hypotheses, *translation.references]
        )
        lowercase = self.tokens.lowercase or steps.lowercase
        tokenize = self.tokens.tokenize or steps.bleu_tokenizer
        scores = []
        if self.references:
            scores = metrics.score_translation(translation, tokenize, lowercase, self.bootstrap)
        scores += [one.metric_score() for one in comet]
        print(metrics.score_table(scores))
        record = metrics.score_dict(translation, scores)
        empty = record["empty_hypotheses"]
        print(remark(f"\n{record['sentences']} sentences, {empty} of them translated as empty"))
        tokenized = sum(line.endswith(" .") for line in translation.hypotheses)
        if self.references and tokenized >= TOKENIZED and tokenize != "none":
            print(
                f"ctxmt: warning: {tokenized} translations end with ' .', as tokenized text does; BLEU is "
                "for text as people write it, and --tokenize none for tokens",
                file=sys.stderr,
            )
        segments = {"comet": [asdict(one) for one in comet]} if comet else {}
        self.results.write({**record, **segments})
