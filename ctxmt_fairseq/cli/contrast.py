"""Score contrastive sets: how often does the model prefer the right translation?

Prints accuracies per phenomenon and distance. Each suite's own scoring convention is the default; --json has
all four (sum or mean of the token log-probabilities, over the current sentence or the window).

Example: ctxmt contrast checkpoint_best.pt en-fr-pronouns --json scores.json --examples examples.jsonl
"""

import json
from typing import List


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options

    parser.add_argument("path", metavar="MODEL", help="a checkpoint; several joined by ':' are an ensemble")
    parser.add_argument("sets", metavar="SET", nargs="+", help="files or folders in the public formats")
    parser.add_argument("--format", help="opensubs, bawden, voita, contrapro or jsonl (default: detected)")
    parser.add_argument("--documents", metavar="DIR", help="ContraPro's context documents")
    parser.add_argument("--reduction", choices=("sum", "mean"), help="(default: the suite's own)")
    parser.add_argument("--span", choices=("current", "window"), help="(default: the suite's own)")
    parser.add_argument("--max-tokens", type=int, default=4000, metavar="N", help="tokens per batch")
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
    from ctxmt_fairseq.evaluation.contrastive_scoring import score_candidates
    from ctxmt_fairseq.evaluation.contrastive_sets import Convention, read_contrastive_set
    from ctxmt_fairseq.evaluation.output import write_whole

    suites = [read_contrastive_set(path, args.format, args.documents) for path in args.sets]
    loaded = load_from_options(args)
    reports = []
    lines: List[str] = []
    for suite in suites:
        own = suite.convention
        convention = Convention(args.reduction or own.reduction, args.span or own.span)
        scores = score_candidates(loaded, suite.examples, args.max_tokens)
        report = contrastive_report(suite, scores, convention)
        print(report.table() + "\n", flush=True)
        reports.append(report.as_dict())
        lines += example_lines(suite, scores, convention)
    if args.json:
        write_whole(args.json, json.dumps(reports if len(reports) > 1 else reports[0], indent=2) + "\n")
    if args.examples:
        write_whole(args.examples, "".join(line + "\n" for line in lines))
