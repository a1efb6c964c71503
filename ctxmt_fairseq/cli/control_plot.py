"""Accuracy against the number of annotated examples, a line for each system (MTCue, figure 4).

RESULTs are files that ctxmt control attributes (or formality) wrote with --json, evaluated with --setting;
systems are called as --system said. Several results of a system in one setting (seeds) are drawn as their
mean with a bar from the lowest to the highest. The numbers are printed, too.

Example: ctxmt control plot mtcue-*.json tagging-*.json --out few-shot.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.option_types import name

    parser.add_argument("results", metavar="RESULT", nargs="+", help="JSON files")
    parser.add_argument("--out", type=name, metavar="FILE.png", required=True, help="the picture")


def run(args) -> None:
    from ctxmt_fairseq.analysis.map_files import check_picture
    from ctxmt_fairseq.evaluation.attribute_control.accuracy_curve import picture, read_result, table
    from ctxmt_fairseq.output_files import write_file

    path = check_picture(args.out)
    results = [read_result(result) for result in args.results]
    write_file(path, picture(results))
    print(table(results), "", path, sep="\n")
