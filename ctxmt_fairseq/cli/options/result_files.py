"""What a command writes: tables, JSON, and pictures with their numbers beside them."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Literal, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.paths import Chart, Map, Output

if TYPE_CHECKING:
    from ctxmt_fairseq.analysis.labelled_map import LabelledMap
    from ctxmt_fairseq.base.plots.charts import Point

Content = Any  # of a file: text, bytes, or a function that writes to a stream


def as_json(record: Any) -> str:
    import json  # here, because a --help does without it

    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def as_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


class Json(OptionGroup):
    """The numbers as JSON, with the command and the versions that made them."""

    json: Optional[Output] = option("write the numbers there too")

    def write(self, record: Dict[str, Any], *more: Tuple[Optional[str], Content]) -> None:
        """Write --json, if it is asked for, and other files with their content: all of them or none."""
        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.base.provenance import made_by

        write_files([(self.json, as_json({**record, "made_by": made_by()})), *more])


class Examples(Json):
    """The numbers, and what they are of."""

    examples: Optional[Output] = option("write every example's scores or decision as JSON lines")


RUNS = "of two or more systems, or NAME={0}; several of one name are runs (seeds) of one system"


class Comparisons(Json):
    """Comparisons of systems with the first, or with each other."""

    all_pairs: bool = option("all systems with each other")


SYSTEMS = (
    "{0}, or NAME={0}; several of one name are runs (seeds) of one system: tables have mean and standard "
    "deviation, pictures the mean with the lowest and the highest"
)


class ChartFiles(Json):
    """Numbers, and a picture of them."""

    output: Optional[Chart] = option("the picture; FILE.csv has its numbers")

    def draw(
        self, points: Sequence["Point"], across: str, record: Dict[str, Any], each: str = "system", **how: Any
    ) -> None:
        """Write the record with the points, the picture and its CSV; ``each`` is what a line is of."""
        from ctxmt_fairseq.base.plots.charts import chart_records, draw_chart
        from ctxmt_fairseq.base.tables import csv_text

        rows = chart_records(points, across, each)
        files: List[Tuple[str, Content]] = []
        if self.output:
            contents = draw_chart(points, across, **how), csv_text(rows)
            files += zip(self.output.files(), contents, strict=True)
        self.write({**record, "points": rows}, *files)


class MapFiles(Json):
    """Numbers, and a map of them."""

    output: Optional[Map] = option("the picture; FILE.tsv and FILE.json have the numbers")

    def draw(
        self, shown: "LabelledMap", record: Dict[str, Any], more: Optional[Dict[str, Any]] = None, **how: Any
    ) -> None:
        """Write the record; and the map, whose files are printed, with more in its FILE.json."""
        from ctxmt_fairseq.analysis.labelled_map import write_map

        self.write(record)
        if self.output:
            print("", *write_map(self.output, shown, more, **how), sep="\n")


class TableStyle(OptionGroup):
    table: Literal["text", "markdown", "latex", "csv"] = option(
        "how tables are printed; latex needs the package booktabs", "text"
    )

    def begin(self, end: ExitStack) -> None:
        from ctxmt_fairseq.base.tables import STYLE

        STYLE.set(self.table)
