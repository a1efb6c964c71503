"""Systems as rows: mean and standard deviation over their runs (seeds), with each context, real minus random
context, and accuracies on contrastive sets; and the same as bars (the thesis, chapter 6).

Each RESULTS is a run: the results.json of ctxmt evaluate or the folder with it, or what ctxmt score, contrast
or probe wrote with --json. Real is the context of the training. Where a length penalty was searched, n is it.

Example: ctxmt analyse runs CE=runs/CE.1 CE=runs/CE.2 DE=runs/DE.1 DE=runs/DE.2 --output bars.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument("--metrics", nargs="+", metavar="NAME", default=["bleu"],
                        help="of translations: bleu, chrf1, chrf2, chrf3 (default: bleu)")  # fmt: skip
    add_chart_options(parser, "RESULTS")


def run(args) -> None:
    from ctxmt_fairseq.analysis.system_names import named_paths
    from ctxmt_fairseq.analysis.system_rows import Rows, rows_panels, rows_records, rows_table
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput

    check_chart_outputs(args)
    rows = Rows()
    for name, path in named_paths(args.systems):
        rows.add_run(name, path, [metric.lower() for metric in args.metrics])
    if not rows.values:
        raise BadInput(
            f"expected translations with {' or '.join(args.metrics)}, or contrastive sets, found none"
        )
    print(rows_table(rows))
    counts = ", ".join(f"{measure}: {count:,}" for measure, count in rows.counts.items())
    print(f"\n{counts} lines; mean ± standard deviation of the runs")
    write_chart(args, rows_panels(rows), "system", {"rows": rows_records(rows)}, "bar", bars=True)
