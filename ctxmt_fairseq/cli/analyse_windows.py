"""Scores with windows smaller and larger than trained, of several systems (focused concatenation, figure 4).

Each RESULTS is what ctxmt evaluate wrote, called with --window for each size (results.json, or the folder
with it), or a file of ctxmt probe --json. Differences are those from the trained size.

Example: ctxmt analyse windows runs/s2to2 runs/s2to2+CD --output windows.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument("--metric", choices=("bleu", "chrf1", "chrf2", "chrf3"), default="bleu",
                        help="of translations (default: %(default)s)")  # fmt: skip
    parser.add_argument("--decoding", choices=("prefix", "window"),
                        help="where ctxmt evaluate has been called with both")  # fmt: skip
    parser.add_argument("--lines", action="store_true", help="draw lines, not bars")
    add_chart_options(parser, "RESULTS")


def run(args) -> None:
    from ctxmt_fairseq.analysis.window_sizes import window_scores, window_table
    from ctxmt_fairseq.charts import points_of_runs
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart

    check_chart_outputs(args)
    values, trained = window_scores(args.systems, args.metric, args.decoding)
    print(window_table(values, trained))
    drawn = sorted(values, key=lambda one: (list(trained).index(one.system), one.place))
    points = points_of_runs(
        one._replace(measure=one.label, system=f"{one.system} (trained: {trained[one.system]})")
        for one in drawn
    )
    write_chart(args, points, "sentences of a window", {"trained": trained}, bars=not args.lines, evenly=True)
