"""Accuracy against the number of annotated examples, a line for each system (MTCue, figure 4).

RESULTs are files that ctxmt control attributes (or formality) wrote with --json, evaluated with --setting;
systems are called as --system said. Several results of a system in one setting (seeds) are drawn as their
mean with a bar from the lowest to the highest. The numbers are printed, too.

Example: ctxmt control plot mtcue-*.json tagging-*.json --out few-shot.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import name

    parser.add_argument("results", metavar="RESULT", nargs="+", help="JSON files")
    parser.add_argument("--out", type=name, metavar="FILE.png", required=True, help="the picture")


def run(args) -> None:
    from ctxmt_fairseq.analysis.accuracy_curve import by_count, read_result, table
    from ctxmt_fairseq.analysis.map_files import check_picture
    from ctxmt_fairseq.charts import chart, points_of_runs
    from ctxmt_fairseq.files import write_file

    path = check_picture(args.out)
    results = [read_result(result) for result in args.results]
    points = points_of_runs(by_count(results))
    write_file(path, chart(points, "annotated examples per combination"))
    print(table(results), "", path, sep="\n")
