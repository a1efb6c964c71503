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
    from ctxmt_fairseq.analysis.penalty_curve import penalty_panel, penalty_table, read_penalty_search
    from ctxmt_fairseq.analysis.system_names import runs_by_system
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart

    check_chart_outputs(args)
    systems = {
        name: [read_penalty_search(path, args.metric, args.decoding) for path in paths]
        for name, paths in runs_by_system(args.systems).items()
    }
    panel = penalty_panel(systems, args.metric)
    print(penalty_table(systems))
    best = {name: [run.best for run in runs] for name, runs in systems.items()}
    write_chart(args, [panel], "length penalty n", {"best": best})
