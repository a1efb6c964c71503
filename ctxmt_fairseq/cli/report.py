"""One HTML page of what runs have found: scores side by side with significance, contrastive accuracy by
phenomenon and distance, probes, curves, attention, examples in which systems differ, commands and versions.

RUN is a training's folder, with what ctxmt evaluate, score, contrast, probe, .. wrote to it or to its folder
evaluation (JSON, NAME.examples.jsonl, NAME.hyp, pictures), in which the first is what the others are
compared with; NAME=FOLDER gives it another name. Or RUN is a file about several systems: the JSON of ctxmt
compare and analyse, or a picture.

The page is one file, for a telephone too: it loads nothing, runs no script, and holds text and pictures of
the files as text and pictures only, whatever stands in them.

Example: ctxmt report runs/sentence runs/s4to4 compared.json --source text/test.en --reference text/test.fr \\
    --docids text/test.docids --output report.html
"""

import sys


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import non_negative_int

    parser.add_argument("runs", metavar="RUN", nargs="+", help="folders of results, see above")
    parser.add_argument("--output", required=True, metavar="FILE.html", help="the page")
    parser.add_argument("--title", default="Context-aware translation", metavar="TEXT",
                        help="(default: %(default)s)")  # fmt: skip
    examples = parser.add_argument_group("examples in which systems differ")
    examples.add_argument("--source", metavar="FILE", help="the text that NAME.hyp of the runs translates")
    examples.add_argument("--reference", metavar="FILE", help="its references, line by line")
    examples.add_argument("--docids", metavar="FILE", help="its document ids: shows previous sentences")
    examples.add_argument("--sets", nargs="+", default=[], metavar="SET",
                          help="the contrastive sets of NAME.examples.jsonl")  # fmt: skip
    examples.add_argument("--examples", type=non_negative_int, default=10, metavar="N",
                          help="of each text and set (default: %(default)s)")  # fmt: skip


def run(args) -> None:
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_sets
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.report.differences import read_text
    from ctxmt_fairseq.report.found import read_runs
    from ctxmt_fairseq.report.page import render
    from ctxmt_fairseq.report.sections import sections

    check_outputs(args.output)
    if (args.source is None) != (args.reference is None) or (args.docids and not args.source):
        raise BadInput("expected --source and --reference, which belong together, and --docids with them")
    runs, shared = read_runs(args.runs)
    text = read_text(args.source, args.reference, args.docids) if args.source else None
    sets = read_contrastive_sets(args.sets) if args.sets else []
    page = render(args.title, sections(runs, shared, text, sets, args.examples))
    write_files([(args.output, page)])
    left_out = sum(len(found.left_out) for found in (*(run.found for run in runs), shared))
    if left_out:
        print(f"ctxmt: {left_out} files are not shown; the page names them", file=sys.stderr)
    print(args.output)
