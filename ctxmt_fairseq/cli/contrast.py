"""Score contrastive sets: how often does the model prefer the right translation?

Prints accuracies per phenomenon and distance. Each suite's own scoring convention is the default; --json has
all four (sum or mean of the token log-probabilities, over the current sentence or the window; the tokens of a
sentence include its </s>), of several sets in a list. SET is one of
  opensubs   a folder with NAME.current.src and its like (Lopes et al. 2020)
  bawden     JSON blocks (Bawden et al. 2018, and the English-Czech disambiguation)
  voita      JSON (Voita et al. 2019), a file or a folder of them; deixis, lexical cohesion and both kinds of
             ellipsis named one by one are one set, with one Disc., as in a folder
  contrapro  contrapro.json (Mueller et al. 2018), with --documents
  scat       SCAT (Yin et al. 2021): one of the four files of a split, or JSON; .jsonl with --format scat
  contrawsd  JSON (Rios et al. 2017), without context; PREFIX.en beside PREFIX.de with --format contrawsd
  jsonl      SET.jsonl, our own, for any context: previous, following, target sentences or metadata

A line of SET.jsonl (here in three lines), where the following sentence decides:
  {"id": "cata-1", "phenomenon": "cataphora", "distance": -1, "context": "source-next",
   "source": ["Look.", "It arrived.", "The letter did."], "current": 1,
   "targets": [["Regarde.", "Elle est arrivée."], ["Regarde.", "Il est arrivé."]], "correct": 0}
source holds previous, current and following sentences, current the index of the current one from 0; each of
targets is a candidate: its target sentences up to the current one; correct is the right candidate's index.
distance counts sentences back to what decides (0: the current sentence, negative: following, null: unknown);
context is source-previous, target-previous, source-next or metadata. Optional is
"meta": {"speaker": "A woman"}, an object of strings: metadata that a model may read.

Examples:
  ctxmt contrast checkpoint_best.pt en-fr-pronouns --json scores.json --examples examples.jsonl
  ctxmt contrast en-fr-pronouns --print-candidates > candidates.jsonl    # for another program to score
  ctxmt contrast en-fr-pronouns --scores scores.txt --examples theirs.jsonl
"""

import zipfile
from typing import Any, List, Literal, Optional

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Input
from ctxmt_fairseq.base.shared_command import SharedCommand
from ctxmt_fairseq.cli.options.model import Model
from ctxmt_fairseq.cli.options.result_files import Examples, TableStyle, as_json, as_lines


class Contrast(SharedCommand):
    path: Optional[Input] = argument("MODEL", "a checkpoint; several joined by ':' are an ensemble")
    sets: List[Input] = argument("SET", "files or folders, see above")
    format: Optional[str] = option("the name of one of these (default: detected)")
    documents: Optional[Folder] = option("ContraPro's context documents")
    reduction: Optional[Literal["sum", "mean"]] = option(
        "of the tokens' log-probabilities (default: the suite's own)"
    )
    span: Optional[Literal["current", "window"]] = option("whose tokens (default: the suite's own)")
    max_tokens: int = option("tokens per batch", 4000)
    print_candidates: bool = option("without MODEL: print the candidates as JSON lines, for another program")
    scores: Optional[Input] = option(
        "without MODEL: what it found, for each candidate a line: the sum of its tokens' log-"
        "probabilities, a blank, their number; or the JSON line with both added, as sum and tokens"
    )
    results: Examples
    model: Model
    style: TableStyle

    def run(self) -> None:
        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.base.provenance import made_by
        from ctxmt_fairseq.evaluation.contrastive_report import contrastive_report, example_lines
        from ctxmt_fairseq.evaluation.contrastive_sets import Convention, read_contrastive_sets
        from ctxmt_fairseq.evaluation.scores_from_elsewhere import candidate_lines, read_candidate_scores

        elsewhere = self.print_candidates or self.scores is not None
        if self.print_candidates and self.scores is not None or not (elsewhere or self.path):
            raise BadInput("give one of MODEL, --print-candidates and --scores, and a SET")
        if elsewhere and self.path and zipfile.is_zipfile(self.path):
            raise BadInput("leave out MODEL: --print-candidates and --scores take sets alone", self.path)
        for name, value in self.model.settings().items():
            if elsewhere and value is not None and value is not False:
                raise BadInput(f"leave out --{name.replace('_', '-')}: only a MODEL heeds it")
        if self.print_candidates and (self.results.json or self.results.examples):
            raise BadInput("--print-candidates has no results: leave out --json and --examples")
        paths = [self.path, *self.sets] if elsewhere and self.path else self.sets
        suites = read_contrastive_sets(paths, self.format, self.documents)
        if self.print_candidates:
            print(*candidate_lines(suites), sep="\n")
            return
        found = iter(read_candidate_scores(self.scores, suites) if self.scores else [])
        model = None if elsewhere else self.model.load(self.path)
        reports: List[Any] = []
        lines: List[str] = []
        for suite in suites:
            own = suite.convention
            convention = Convention(self.reduction or own.reduction, self.span or own.span)
            scores = model.candidate_scores(suite, self.max_tokens) if model else next(found)
            report = contrastive_report(suite, scores, convention)
            print(report.table() + "\n", flush=True)
            reports.append({**report.as_dict(), "made_by": made_by()})
            lines += example_lines(suite, scores, convention)
        record = reports if len(reports) > 1 else reports[0]
        write_files([(self.results.json, as_json(record)), (self.results.examples, as_lines(lines))])
