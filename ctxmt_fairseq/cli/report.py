"""One HTML page of what runs have found: scores side by side with significance, contrastive accuracy by
phenomenon and distance, probes, curves, attention, examples in which systems differ, commands and versions.

RUN is a training's folder, with what ctxmt evaluate, score, contrast, probe, .. wrote to it or to its folder
evaluation (JSON, NAME.examples.jsonl, NAME.hyp, pictures); NAME=FOLDER gives it another name. The first is
what the others are compared with. Or RUN is a file about several systems: the JSON of ctxmt compare and
analyse, or a picture.

The page is one file, for a telephone too: it loads nothing, runs no script, and holds text and pictures of
the files as text and pictures only, whatever stands in them.

Example: ctxmt report runs/sentence runs/s4to4 compared.json --source text/test.en --reference text/test.fr \\
    --docids text/test.docids --output report.html
"""

import sys
from typing import List, Optional

from ctxmt_fairseq.base.command import Command, OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Input, Named, Output


class Differing(OptionGroup):
    heading = "examples in which systems differ"

    source: Optional[Input] = option("the text that NAME.hyp of the runs translates")
    reference: Optional[Input] = option("its references, line by line")
    docids: Optional[Input] = option("its document ids: shows previous sentences")
    sets: List[Input] = option("the contrastive sets of NAME.examples.jsonl", [], metavar="SET")
    examples: int = option("of each text and set", 10, non_negative_int)


class Report(Command):
    runs: List[Named] = argument("RUN", "folders of results, see above")
    output: Output = option("the page", metavar="FILE.html")
    title: str = option("of the page", "Context-aware translation", metavar="TEXT")
    differing: Differing

    def run(self) -> None:
        from ctxmt_fairseq.analysis.page.differences import not_compared, read_text
        from ctxmt_fairseq.analysis.page.found import read_runs
        from ctxmt_fairseq.analysis.page.page import render
        from ctxmt_fairseq.analysis.page.sections import sections
        from ctxmt_fairseq.base.files import write_file
        from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_sets

        source, reference, docids = self.differing.source, self.differing.reference, self.differing.docids
        if (source is None) != (reference is None) or (docids and not source):
            raise BadInput("give --source and --reference together, and --docids only with them")
        runs, shared = read_runs(self.runs)
        text = read_text(source, reference, docids) if source and reference else None
        sets = read_contrastive_sets(self.differing.sets) if self.differing.sets else []
        page = render(self.title, sections(runs, shared, text, sets, self.differing.examples))
        write_file(self.output, page)
        left_out = sum(len(found.left_out) for found in (*(run.found for run in runs), shared))
        if left_out:
            print(f"ctxmt: warning: {left_out} files are not shown; the page names them", file=sys.stderr)
        for missing in not_compared(runs, text, sets):
            print(f"ctxmt: warning: {missing}, so the page compares none", file=sys.stderr)
        print(self.output)
