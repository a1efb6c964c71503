"""Systems as rows: mean and standard deviation over their runs (seeds), with each context, real minus random
context, and accuracies on contrastive sets; and the same as bars (the thesis, chapter 6).

Each RESULTS is a run: the results.json of ctxmt evaluate or the folder with it, or what ctxmt score, contrast
or probe wrote with --json. Real is the context of the training. Where a length penalty was searched, n is it.

Example: ctxmt analyse runs CE=runs/CE.1 CE=runs/CE.2 DE=runs/DE.1 DE=runs/DE.2 --output bars.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument("--metrics", nargs="+", metavar="NAME",
                        help="of translations: bleu, chrf1, chrf2, chrf3 (default: bleu)")  # fmt: skip
    add_chart_options(parser, "RESULTS")


def run(args) -> None:
    from ctxmt_fairseq.analysis.system_rows import rows_bars, rows_records, rows_table, system_rows
    from ctxmt_fairseq.charts import points_of_runs
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput

    check_chart_outputs(args)
    metrics = [metric.lower() for metric in args.metrics or ["bleu"]]
    values = system_rows(args.systems, metrics)
    counts = {one.measure: one.lines for one in values if one.lines}
    lacking = [metric for metric in metrics if metric not in counts]
    if not values or args.metrics and lacking:
        raise BadInput(
            f"expected translations with {' and '.join(lacking)}"
            f"{'' if args.metrics else ', or contrastive sets'}, found none"
        )
    print(rows_table(values))
    found = ", ".join(f"{measure}: {count:,}" for measure, count in counts.items())
    print(f"\n{found} lines; mean ± standard deviation of the runs")
    points = points_of_runs(rows_bars(values))
    write_chart(args, points, "system", {"rows": rows_records(values)}, "bar", bars=True)
