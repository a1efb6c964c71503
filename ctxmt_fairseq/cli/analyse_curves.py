"""Trainings side by side, from the logs of fairseq-train: what each took, and curves of validation.

The table has the parameters, the hours of an epoch (training steps alone, on all devices together), and when
the best checkpoint came (MTCue, table 3). The curves are by default the current sentence's loss and its ratio
to that of context sentences, which the context-discounted criterion logs (focused concatenation, figure 3).
By epoch, the last validation in each counts. A log may be in the format simple or json, and hold a training
that was interrupted and resumed.

Example: ctxmt analyse curves runs/s4to4 runs/s4to4+CD --output curves.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument("--metrics", nargs="+", metavar="NAME",
                        help="as fairseq names them (default: current_loss current_context_ratio, or loss)"
                        )  # fmt: skip
    parser.add_argument("--best-by", metavar="NAME",
                        help="the metric whose lowest value is the best (default: that of the training)"
                        )  # fmt: skip
    parser.add_argument("--by", choices=("epoch", "update"), default="epoch", help="(default: %(default)s)")
    parser.add_argument("--subset", default="valid", metavar="NAME",
                        help="validated with it (default: %(default)s)")  # fmt: skip
    add_chart_options(parser, "LOG")


def run(args) -> None:
    from dataclasses import asdict

    from ctxmt_fairseq.analysis import training_curves as trainings
    from ctxmt_fairseq.analysis.system_names import runs_by_system
    from ctxmt_fairseq.analysis.training_log import read_training_log
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.plots.charts import points_of_runs

    check_chart_outputs(args)
    systems = {
        name: [read_training_log(path) for path in paths]
        for name, paths in runs_by_system(args.systems).items()
    }
    known = trainings.known_metrics(systems, args.subset)
    metrics = args.metrics or [name for name in trainings.FIGURE_3 if name in known] or ["loss"]
    by = "epoch" if args.by == "epoch" else "updates"
    curves = {metric: list(trainings.curves(systems, metric, args.subset, by)) for metric in metrics}
    found = trainings.efforts(systems, args.subset, args.best_by)
    print(trainings.effort_table(found))
    for metric, values in curves.items():
        without = [name for name in systems if name not in {one.system for one in values}]
        if without:
            print(f"\nwithout {metric}: {', '.join(without)}")
    warning = trainings.differing_losses(systems)
    if warning and "loss" in {*metrics, *(one.metric for one in found)}:
        print(f"\n{warning}")
    points = points_of_runs(one for values in curves.values() for one in values)
    write_chart(args, points, args.by, {"trainings": [asdict(one) for one in found]})
