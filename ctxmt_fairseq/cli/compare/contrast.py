"""Compare systems on contrastive sets with McNemar's test: all examples, each phenomenon, each distance, and
those that need context (Disc.).

Each file holds one system's examples, as ctxmt contrast --examples writes them; they are joined by set and
id. The test looks at the examples that only one of two systems has right: exact below 25 of them, else
chi-squared with a correction for continuity.

Example: ctxmt compare contrast baseline.examples.jsonl context.examples.jsonl --json compared.json
"""

from typing import List

from ctxmt_fairseq.base.command import Command, argument
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.options.result_files import Comparisons


class Contrast(Command):
    systems: List[Input] = argument("EXAMPLES", "examples of two or more systems")
    results: Comparisons

    def run(self) -> None:
        from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast, comparison_table

        comparisons = compare_contrast(self.systems, self.results.all_pairs)
        print(comparison_table(comparisons))
        self.results.write({"comparisons": [comparison.as_dict() for comparison in comparisons]})
