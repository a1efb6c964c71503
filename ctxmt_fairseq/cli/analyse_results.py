"""Systems side by side: everything that was measured of their runs (seeds) across contexts, windows, length
penalties, numbers of annotated examples, systems, or an option of the training. Tables have mean and standard
deviation over the runs, and differences; pictures the mean with the lowest and the highest.

RESULTS is a training's folder or the folder of ctxmt evaluate, or what ctxmt score, contrast, probe or
control wrote with --json; for an option of the training also its log. What is shown across:
  context   real (that of the training), random, ..: what ctxmt evaluate and probe tried
  window    sentences of a window: ctxmt evaluate --window, ctxmt probe --sizes
  decoding  prefix or window
  system    the same with the systems side by side in the picture
  penalty   length penalties on the development set, with the best of each run: ctxmt evaluate --lenpen opt
  examples  annotated examples of each combination: ctxmt control attributes and formality with --setting
  OPTION    of the training, such as context_discount, from its train.log; with the best loss in validation

Examples:
  ctxmt analyse results CE=runs/CE.1 CE=runs/CE.2 DE=runs/DE --against random --output bars.png
  ctxmt analyse results runs/s2to2 runs/s2to2+CD --across window --against trained --metrics bleu
  ctxmt analyse results runs/CE/opt --across penalty
  ctxmt analyse results mtcue-*.json tagging-*.json --across examples --output few-shot.png
  ctxmt analyse results runs/s4to4+CD=* --across context_discount --beside dev.*.json --beside shares.json
"""

ACROSS = {  # name -> as an axis is called
    "context": "context",
    "window": "sentences of a window",
    "decoding": "decoding",
    "system": "system",
    "penalty": "length penalty n",
    "examples": "annotated examples of each combination",
}
BARS = ("context", "window", "decoding", "system")  # drawn so, unless --lines


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument(
        "--across", default="context", metavar="NAME", help="see above (default: %(default)s)"
    )
    parser.add_argument("--against", metavar="PLACE",
                        help="show differences from this place, too; trained: from each system's own window"
                        )  # fmt: skip
    parser.add_argument("--metrics", nargs="+", default=[], metavar="NAME",
                        help="such as bleu, a contrastive set's name, or a loss (default: all)")  # fmt: skip
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME=VALUE",
                        help="such as decoding=window, context=real, window=trained, n=opt")  # fmt: skip
    parser.add_argument("--beside", nargs="+", action="append", default=[], metavar="FILE",
                        help="further results: a file for each RESULTS, or one of ctxmt analyse "
                        "attention-share with as many models")  # fmt: skip
    parser.add_argument("--lines", action="store_true", help="draw lines where there would be bars")
    add_chart_options(parser, "RESULTS")


def run(args) -> None:
    from ctxmt_fairseq.analysis import value_tables as views
    from ctxmt_fairseq.analysis.run_values import read_values
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.plots.charts import points_of_runs

    check_chart_outputs(args)
    across = args.across.replace("-", "_")
    option = None if across in ACROSS else across
    values = views.chosen(
        read_values(args.systems, option, args.metrics, args.beside), across, args.metrics, args.only
    )
    found = views.placed(values, across)
    shown = found + (views.differences(values, across, args.against) if args.against else [])
    print(views.value_tables(shown), "\nmean ± standard deviation of the runs", sep="\n")
    best = views.best_places(found) if across == "penalty" else {}
    for measure, systems in best.items():
        runs = (f"{name}: {', '.join(f'{place:g}' for place in places)}" for name, places in systems.items())
        print(f"best {measure} of each run: {'; '.join(runs)}")
    record = {"values": [one._asdict() for one in values], "rows": views.value_records(shown), "best": best}
    bars = across in BARS and not args.lines
    each = "series" if across == "system" else "system"
    write_chart(args, points_of_runs(found), ACROSS.get(across, across), record, each, bars=bars, evenly=True)
