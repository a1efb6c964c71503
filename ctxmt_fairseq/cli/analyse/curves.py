"""Trainings side by side, from the logs of fairseq-train: what each took, and curves of validation.

The table has the parameters, the hours of an epoch (training steps alone, on all devices together), and when
the best checkpoint came (MTCue, table 3). The curves are by default the current sentence's loss and its ratio
to that of context sentences, which the context-discounted criterion logs (focused concatenation, figure 3).
By epoch, the last validation in each counts. A log may be in the format simple or json, and hold a training
that was interrupted and resumed.

Example: ctxmt analyse curves runs/s4to4 runs/s4to4+CD --output curves.png
"""

from typing import List, Literal, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Named
from ctxmt_fairseq.cli.options.result_files import SYSTEMS, ChartFiles


class Curves(Command):
    systems: List[Named] = argument("LOG", SYSTEMS.format("LOG"))
    metrics: Optional[List[str]] = option(
        "as fairseq names them (default: current_loss current_context_ratio, or loss)"
    )
    by: Literal["epoch", "update"] = option("what the curves run over", "epoch")
    subset: str = option("the validation set that is shown", "valid")
    files: ChartFiles

    def run(self) -> None:
        from ctxmt_fairseq.analysis import training_curves as trainings
        from ctxmt_fairseq.analysis.system_names import distinct_runs
        from ctxmt_fairseq.analysis.training_log import read_training_log
        from ctxmt_fairseq.base.groups import grouped
        from ctxmt_fairseq.base.plots.charts import points_of_runs

        runs = grouped(distinct_runs(self.systems)).items()
        systems = {name: [read_training_log(path) for path in paths] for name, paths in runs}
        known = trainings.known_metrics(systems, self.subset)
        metrics = self.metrics or [name for name in trainings.FIGURE_3 if name in known] or ["loss"]
        by = "epoch" if self.by == "epoch" else "updates"
        curves = {metric: list(trainings.curves(systems, metric, self.subset, by)) for metric in metrics}
        found = trainings.efforts(systems, self.subset)
        print(trainings.effort_table(found))
        for metric, values in curves.items():
            without = [name for name in systems if name not in {one.system for one in values}]
            if without:
                print(f"\nwithout {metric}: {', '.join(without)}")
        warning = trainings.differing_losses(systems)
        if warning and "loss" in {*metrics, *(one["metric"] for one in found)}:
            print(f"\n{warning}")
        points = points_of_runs(one for values in curves.values() for one in values)
        self.files.draw(points, self.by, {"trainings": found})
