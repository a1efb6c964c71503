"""Compare systems on contrastive sets with McNemar's test: all examples, each phenomenon, each distance, and
those that need context (Disc.).

Each file holds the examples of one run, as ctxmt contrast --examples writes them; they are joined by set and
id. The test looks at the examples that only one of two trained models has right: exact below 25 of them, else
chi-squared with a correction for continuity. It says nothing about other seeds.

NAME=FILE several times gives the runs (seeds) of a system. Then intervals and p are over seeds and examples
together (Dorfman-Berbaum-Metz analysis of variance), which takes three seeds of each system or more. If
systems have as many runs, the n-th runs of all belong to one seed.

Example: ctxmt compare contrast CE=ce.1.examples.jsonl CE=ce.2.examples.jsonl CE=ce.3.examples.jsonl \\
    DE=de.1.examples.jsonl DE=de.2.examples.jsonl DE=de.3.examples.jsonl --json compared.json
"""

from typing import List

from ctxmt_fairseq.base.command import Command, argument
from ctxmt_fairseq.base.paths import Named
from ctxmt_fairseq.cli.options.result_files import RUNS, Comparisons, TableStyle


class Contrast(Command):
    systems: List[Named] = argument("EXAMPLES", RUNS.format("EXAMPLES"))
    results: Comparisons
    style: TableStyle

    def run(self) -> None:
        from ctxmt_fairseq.analysis.system_names import distinct_runs, files_of
        from ctxmt_fairseq.base.tables import remark
        from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast, comparison_table
        from ctxmt_fairseq.evaluation.significance.seeds import about

        runs = distinct_runs(self.systems)
        comparisons = compare_contrast(runs, self.results.all_pairs)
        note = about([name for name, _ in runs], (each.result for each in comparisons))
        print(f"{comparison_table(comparisons)}\n\n{remark(note)}")
        record = {"comparisons": [each.as_dict() for each in comparisons], "about": note}
        self.results.write({**record, "files": files_of(runs)})
