"""Score contrastive sets: how often does the model prefer the right translation?

Prints accuracies per phenomenon and distance. Each suite's own scoring convention is the default; --json has
all four (sum or mean of the token log-probabilities, over the current sentence or the window; the tokens of a
sentence include its </s>). SET is one of
  opensubs   a folder with NAME.current.src and its like (Lopes et al. 2020)
  bawden     JSON blocks (Bawden et al. 2018, and the English-Czech disambiguation)
  voita      JSON (Voita et al. 2019), a file or a folder of them; deixis, lexical cohesion and both kinds of
             ellipsis named one by one are one set, with one Disc., as in a folder
  contrapro  contrapro.json (Mueller et al. 2018), with --documents
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

Example: ctxmt contrast checkpoint_best.pt en-fr-pronouns --json scores.json --examples examples.jsonl
"""

import json
from typing import List


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument("path", metavar="MODEL", help="a checkpoint; several joined by ':' are an ensemble")
    parser.add_argument("sets", metavar="SET", nargs="+", help="files or folders, see above")
    parser.add_argument("--format", help="opensubs, bawden, voita, contrapro or jsonl (default: detected)")
    parser.add_argument("--documents", metavar="DIR", help="ContraPro's context documents")
    parser.add_argument("--reduction", choices=("sum", "mean"), help="(default: the suite's own)")
    parser.add_argument("--span", choices=("current", "window"), help="(default: the suite's own)")
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N", help="tokens per batch")
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the report there too, with all conventions (of several sets, a list)",
    )
    parser.add_argument("--examples", metavar="FILE", help="write every example's scores as JSON lines")
    add_model_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.evaluation.contrastive_report import contrastive_report, example_lines
    from ctxmt_fairseq.evaluation.contrastive_sets import Convention, read_contrastive_sets
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json, args.examples)
    suites = read_contrastive_sets(args.sets, args.format, args.documents)
    model = load_from_options(args)
    reports = []
    lines: List[str] = []
    for suite in suites:
        own = suite.convention
        convention = Convention(args.reduction or own.reduction, args.span or own.span)
        scores = model.candidate_scores(suite, args.max_tokens)
        report = contrastive_report(suite, scores, convention)
        print(report.table() + "\n", flush=True)
        reports.append({**report.as_dict(), "made_by": made_by(args)})
        lines += example_lines(suite, scores, convention)
    report_json = json.dumps(reports if len(reports) > 1 else reports[0], indent=2) + "\n"
    write_files([(args.json, report_json), (args.examples, "".join(line + "\n" for line in lines))])
