"""Systems side by side: any measure against the window, the context, the length penalty, the number of
annotated examples or an option of the training; mean and deviation over runs (seeds), as a table, chart, CSV
and JSON.

Examples:
  ctxmt analyse results CE=runs/CE.1 CE=runs/CE.2 DE=runs/DE --across context --against random
  ctxmt analyse results runs/s2to2 runs/s3to3 --across window --metrics bleu --output windows.png
  ctxmt analyse results runs/CE --across penalty --metrics "bleu, dev"
  ctxmt analyse results cd=runs/cd0 cd=runs/cd1 --across context_discount
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_chart_options

    parser.add_argument("--across", default="context", metavar="NAME",
                        help="window, context, penalty, examples, or an option of the training, with _ for - "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--against", metavar="PLACE", help="show differences from this place, too")
    parser.add_argument("--metrics", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME=VALUE", help="such as decoding=window")
    parser.add_argument("--lines", action="store_true", help="draw lines, not bars")
    add_chart_options(parser, "RESULTS")


def run(args) -> None:
    from ctxmt_fairseq.analysis.measured import read_measured
    from ctxmt_fairseq.charts import Point, points_of_runs
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.tables import aligned_table, cross_table

    check_chart_outputs(args)
    across, usual = args.across, ("window", "context", "penalty", "examples")
    wanted = dict(one.split("=", 1) for one in args.only)
    values = [
        one
        for one in read_measured(args.systems, () if across in usual else (across,))
        if across in one.at and (not args.metrics or one.measure in args.metrics)
        and all(str(one.at.get(name)) == value for name, value in wanted.items())
    ]  # fmt: skip
    if not values:
        raise BadInput(f"expected {' or '.join(args.metrics or ['results'])} by {across}, found none")
    varying = {name for one in values for name in one.at if name != across
               and len({each.at.get(name) for each in values if each.system == one.system}) > 1}  # fmt: skip

    def named(one) -> Point:
        rest = "".join(f", {name} {one.at[name]}" for name in one.at if name in varying)
        measure = one.measure if one.lines is None else f"{one.measure}, n = {one.lines:,}"
        return Point(measure, one.system + rest, one.at[across], one.value)

    found = [named(one) for one in values]
    if args.against:
        base = {
            (one.run, *named(one)[:2]): one.value for one in values if str(one.at[across]) == args.against
        }
        for one in values:
            point = named(one)
            key = (one.run, *point[:2])
            if key in base and str(point.place) != args.against:
                less = one.value - base[key]
                found.append(point._replace(place=f"{point.place} - {args.against}", value=less))
    for measure in dict.fromkeys(one.measure for one in found):
        cells = [(one.system, str(one.place), one.value) for one in found if one.measure == measure]
        print(aligned_table(cross_table(cells, measure)), end="\n\n")
    points = points_of_runs(one for one in found if " - " not in str(one.place))
    runs = [one._asdict() for one in values]
    write_chart(args, points, across, {"values": runs}, bars=not args.lines, evenly=True)
