"""Scores of the development set against the length penalty, of several systems (the thesis, 6.3.8).

Each RESULTS is the folder of ctxmt evaluate --lenpen opt --dev TEXT, which translated that text with every
penalty of --lenpens and evaluated its own text with the best of them.

Example: ctxmt analyse lenpen runs/CE runs/src1tgt0_to_tgt0 --output penalties.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument("--metric", choices=("bleu", "chrf1", "chrf2", "chrf3"), default="bleu",
                        help="(default: %(default)s, by which the search chose)")  # fmt: skip
    parser.add_argument("--decoding", default="prefix", metavar="NAME",
                        help="prefix or window, with other windows than the trained as prefix.w3 "
                        "(default: %(default)s)")  # fmt: skip
    add_chart_options(parser, "RESULTS")


def run(args) -> None:
    from ctxmt_fairseq.analysis.penalty_curve import best_penalties, penalty_scores
    from ctxmt_fairseq.analysis.side_by_side import read_values
    from ctxmt_fairseq.charts import points_of_runs
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.tables import aligned_table, cross_table

    check_chart_outputs(args)
    values = read_values(
        args.systems, lambda name, path: penalty_scores(name, path, args.metric, args.decoding)
    )
    best = best_penalties(values)
    ordered = sorted(values, key=lambda one: (one.place, list(best).index(one.system)))
    print(
        aligned_table(cross_table(((one.place, one.system, one.value) for one in ordered), "length penalty"))
    )
    shown = (f"{name}: {', '.join(f'{penalty:g}' for penalty in runs)}" for name, runs in best.items())
    print(f"\nbest of each run: {'; '.join(shown)}")
    points = points_of_runs(one._replace(measure=one.label) for one in values)
    write_chart(args, points, "length penalty n", {"best": best})
