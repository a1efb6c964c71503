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
    from ctxmt_fairseq.analysis.system_names import runs_by_system
    from ctxmt_fairseq.analysis.system_rows import Rows, rows_panels, rows_records, rows_table
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput

    check_chart_outputs(args)
    rows = Rows()
    metrics = [metric.lower() for metric in args.metrics or ["bleu"]]
    for name, paths in runs_by_system(args.systems).items():
        for path in paths:
            rows.add_run(name, path, metrics)
    measures = {column.measure for column in rows.columns}
    lacking = [metric for metric in metrics if metric not in measures]
    if not rows.values or args.metrics and lacking:
        raise BadInput(
            f"expected translations with {' and '.join(lacking)}"
            f"{'' if args.metrics else ', or contrastive sets'}, found none"
        )
    print(rows_table(rows))
    counts = ", ".join(f"{measure}: {count:,}" for measure, count in rows.counts.items())
    print(f"\n{counts} lines; mean ± standard deviation of the runs")
    write_chart(args, rows_panels(rows), "system", {"rows": rows_records(rows)}, "bar", bars=True)
