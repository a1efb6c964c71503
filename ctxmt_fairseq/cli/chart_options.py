"""Options and files of commands that draw systems beside each other, and how systems are named."""

import json
from pathlib import Path
from typing import Any, Dict, Sequence

SYSTEMS = """{what}, or NAME={what}; several of one name are runs (seeds) of one system: tables have mean
and standard deviation, pictures the mean with the lowest and the highest"""


def add_chart_options(parser: Any, what: str) -> None:
    """The systems, --json and --output."""
    parser.add_argument("systems", metavar=what, nargs="+", help=SYSTEMS.format(what=what).replace("\n", " "))
    add_output_options(parser)


def add_output_options(parser: Any) -> None:
    """--json and --output."""
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument("--output", metavar="FILE.png", help="the picture; FILE.csv has its numbers")


def check_chart_outputs(args: Any) -> None:
    """Raises BadInput: an output cannot be written, or there is no matplotlib."""
    from ctxmt_fairseq.analysis.map_files import check_optional_picture

    check_optional_picture(args.output, (".csv",), [args.json])


def write_chart(
    args: Any, points: Sequence[Any], across: str, record: Dict[str, Any], each: str = "system", **how: Any
) -> None:
    """Write what was asked for: the record with the points, the picture, its CSV.

    Args:
        each: what a line or bar is of.
        how: see ``plots.charts.chart``.
    """
    from ctxmt_fairseq.files import write_files
    from ctxmt_fairseq.plots.charts import chart, chart_records
    from ctxmt_fairseq.provenance import made_by
    from ctxmt_fairseq.tables import csv_text

    rows = chart_records(points, across, each)
    content = json.dumps({**record, "points": rows, "made_by": made_by(args)}, indent=2, ensure_ascii=False)
    outputs: Any = [(args.json, content + "\n")]
    if args.output:
        outputs += [
            (args.output, chart(points, across, **how)),
            (Path(args.output).with_suffix(".csv"), csv_text(rows)),
        ]
    write_files(outputs)
