"""An option of the training against what it leads to, from the logs of trainings that differ in it.

By default the context discount (focused concatenation, figure 2): the lowest loss of current sentences in
validation; with --contrast the accuracy on a contrastive set, Disc. where there is one; with --shares how
much attention stays in the current sentence. These two are given in the order of the logs. Several trainings
with the same value (seeds) are drawn as their mean with the lowest and the highest.

Example: ctxmt analyse sweep cd1 cd0.1 cd0.01 --contrast cd1.json cd0.1.json cd0.01.json \\
    --shares shares.json --output discounts.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_output_options

    parser.add_argument("logs", metavar="LOG", nargs="+", help="training logs, or trainings' folders")
    parser.add_argument("--option", default="context_discount", metavar="NAME",
                        help="with _ for -; its value is read in the log (default: %(default)s)")  # fmt: skip
    parser.add_argument("--metric", default="current_loss", metavar="NAME",
                        help="whose lowest value counts (default: %(default)s)")  # fmt: skip
    parser.add_argument("--subset", default="valid", metavar="NAME",
                        help="validated with it (default: %(default)s)")  # fmt: skip
    parser.add_argument("--contrast", nargs="+", metavar="FILE",
                        help="what ctxmt contrast --json wrote, one for each LOG")  # fmt: skip
    parser.add_argument("--shares", metavar="FILE",
                        help="what ctxmt analyse attention-share --json wrote, of a model for each LOG"
                        )  # fmt: skip
    add_output_options(parser)


def run(args) -> None:
    from functools import partial

    from ctxmt_fairseq.analysis import option_sweep
    from ctxmt_fairseq.analysis.side_by_side import Value
    from ctxmt_fairseq.analysis.training_curves import named_with_unit
    from ctxmt_fairseq.analysis.training_log import read_training_log
    from ctxmt_fairseq.charts import points_of_runs
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.tables import aligned_table, cross_table, mean_and_deviation

    check_chart_outputs(args)
    if args.contrast and len(args.contrast) != len(args.logs):
        raise BadInput(
            f"--contrast: expected {len(args.logs)} files, one for each LOG, found {len(args.contrast)}"
        )
    logs = [read_training_log(path) for path in args.logs]
    loss = f"lowest {named_with_unit(args.metric, args.subset)}"
    measures = {loss: [log.best(args.subset, args.metric)[1].values[args.metric] for log in logs]}
    if args.contrast:
        measures[option_sweep.ACCURACY] = [option_sweep.read_accuracy(path) for path in args.contrast]
    if args.shares:
        measures[option_sweep.SHARE] = option_sweep.read_shares(args.shares, len(logs))
    at = [log.number(args.option) for log in logs]
    values = [Value(measure, measure, place, value) for measure, found in measures.items()
              for place, value in sorted(zip(at, found, strict=True))]  # fmt: skip
    cells = ((one.place, one.measure, one.value) for one in values)
    table = cross_table(cells, args.option, partial(mean_and_deviation, digits=3))
    counts = ["trainings", *(str(at.count(place)) for place in sorted(set(at)))]
    print(aligned_table([[row[0], count, *row[1:]] for row, count in zip(table, counts, strict=True)]))
    write_chart(args, points_of_runs(values), args.option, {"logs": args.logs}, evenly=True)
