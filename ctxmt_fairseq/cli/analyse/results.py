"""Systems side by side: everything that was measured of their runs (seeds) across contexts, windows, length
penalties, numbers of annotated examples, systems, or an option of the training. Tables have mean and standard
deviation over the runs, and differences; pictures the mean with the lowest and the highest. Differences of
several runs have a 95 % interval and p over seeds, corrected over those of a measure (Holm): over seeds and
examples together for a contrastive set whose examples lie beside it, as ctxmt evaluate writes them, else over
seeds alone. Across systems the n-th runs of each are one seed.

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
  ctxmt analyse results CE=runs/CE.1 CE=runs/CE.2 DE=runs/DE.1 DE=runs/DE.2 --across system --against CE
  ctxmt analyse results runs/s2to2 runs/s2to2+CD --across window --against trained --metrics bleu
  ctxmt analyse results runs/CE/opt --across penalty
  ctxmt analyse results mtcue-*.json tagging-*.json --across examples --output few-shot.png
  ctxmt analyse results runs/s4to4+CD=* --across context_discount --beside dev.*.json --beside shares.json
"""

from typing import List, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Input, Named
from ctxmt_fairseq.cli.options.result_files import SYSTEMS, ChartFiles, TableStyle

ACROSS = {  # name -> as an axis is called
    "context": "context",
    "window": "sentences of a window",
    "decoding": "decoding",
    "system": "system",
    "penalty": "length penalty n",
    "examples": "annotated examples of each combination",
}
BARS = ("context", "window", "decoding", "system")  # drawn so, unless --lines


class Results(Command):
    systems: List[Named] = argument("RESULTS", SYSTEMS.format("RESULTS"))
    across: str = option("see above", "context")
    against: Optional[str] = option(
        "show differences from this place, too; trained: from each system's own window", metavar="PLACE"
    )
    metrics: List[str] = option("such as bleu, a contrastive set's name, or a loss (default: all)", [])
    only: List[str] = option(
        "such as decoding=window, context=real, window=trained, n=opt", [], metavar="NAME=VALUE"
    )
    beside: List[List[Input]] = option(
        "further results: a file for each RESULTS, or one of ctxmt analyse attention-share with as many "
        "models",
        [],
        Input,
        nargs="+",
        action="append",
        metavar="FILE",
    )
    lines: bool = option("draw lines where there would be bars")
    files: ChartFiles
    style: TableStyle

    def run(self) -> None:
        from ctxmt_fairseq.analysis import value_tables as views
        from ctxmt_fairseq.analysis.paper_table import paper_table
        from ctxmt_fairseq.analysis.run_values import read_values
        from ctxmt_fairseq.base.plots.charts import points_of_runs
        from ctxmt_fairseq.base.tables import remark
        from ctxmt_fairseq.evaluation.significance.seeds import ONE_RUN

        across = self.across.replace("-", "_")
        option = None if across in ACROSS else across
        values = read_values(self.systems, option, self.metrics, self.beside)
        values = views.chosen(values, across, self.metrics, self.only)
        found = views.placed(values, across)
        shown = found + (views.differences(values, across, self.against) if self.against else [])
        rows = views.value_records(shown)
        whole = across == "system" and self.style.table != "text"
        print(paper_table(shown, rows) if whole else views.value_tables(shown))
        print(remark("\nmean ± standard deviation of the runs"))
        best = views.best_places(found) if across == "penalty" else {}
        for measure, systems in best.items():
            runs = [f"{name}: {', '.join(map('{:g}'.format, places))}" for name, places in systems.items()]
            print(remark(f"best {measure} of each run: {'; '.join(runs)}"))
        if self.against:
            print(views.tests_table(rows) or remark(ONE_RUN))
        record = {"values": [one.record() for one in values], "rows": rows, "best": best}
        bars = across in BARS and not self.lines
        each = "series" if across == "system" else "system"
        axis = ACROSS.get(across, across)
        self.files.draw(points_of_runs(found), axis, record, each, bars=bars, evenly=True)
