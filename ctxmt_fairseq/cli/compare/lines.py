"""The lines that systems translate differently, side by side, with the sentences before them (thesis, 6.3.9;
MTCue, table 7).

Sorted by the difference of their sentence-level chrF, the last system's minus the first's: what it gains most
comes first, what it loses most last. --json has all differing lines in this order.

Example: ctxmt compare lines test.en test.fr baseline.hyp context.hyp --docids test.docids --json lines.jsonl
"""

import json
from typing import List, Literal, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Input, Named, Output, Prefix
from ctxmt_fairseq.cli.options.result_files import as_lines


class Lines(Command):
    source: Input = argument("SRC", "the sentences that were translated, one per line")
    reference: Input = argument("REF", "line by line as SRC")
    systems: List[Named] = argument("HYP", "two or more translations, line by line as SRC, or NAME=HYP")
    docids: Optional[Input] = option("document ids, one per line; without them no context is shown")
    current: Optional[Input] = option("0 or 1 per line: 0 serves as context only")
    metadata: Optional[Prefix] = option(
        "prefix of NAME.meta.jsonl or NAME.meta.FIELD, or a file of JSON objects", metavar="NAME"
    )
    context: int = option("sentences before a line that are shown", 2, non_negative_int)
    metric: Literal["chrf1", "chrf2", "chrf3"] = option("what the lines are sorted by", "chrf2")
    lowercase: bool = option("ignore case in the scores")
    top: int = option("lines printed at either end", 10)
    json: Optional[Output] = option("write all of them there, as JSON lines")

    def run(self) -> None:
        from ctxmt_fairseq.analysis.system_names import named_paths
        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.evaluation.differing_lines import LinedText, differing_lines, listing
        from ctxmt_fairseq.evaluation.metrics import read_translation
        from ctxmt_fairseq.evaluation.significance.measures import measure
        from ctxmt_fairseq.text.documents import Documents
        from ctxmt_fairseq.text.metadata_files import MetadataFiles
        from ctxmt_fairseq.text.text_lines import read_flags

        names, paths = zip(*named_paths(self.systems), strict=True)
        if len(set(names)) < max(2, len(names)):
            raise BadInput(
                f"give two or more systems of different names (NAME=HYP); found {', '.join(names)}"
            )
        texts = [read_translation(path, [self.source, self.reference]) for path in paths]
        sources, references = texts[0].references
        count = len(sources)
        metadata = MetadataFiles.named(self.metadata).of_lines(count) if self.metadata else None
        documents = Documents.read(self.docids, count) if self.docids else None
        current = read_flags(self.current, count) if self.current else None
        hypotheses = {name: text.hypotheses for name, text in zip(names, texts, strict=True)}
        text = LinedText(sources, references, hypotheses, documents, current, metadata)
        found = differing_lines(text, measure(self.metric, lowercase=self.lowercase), self.context)
        print(listing(found, names, self.metric, len(text.translated), self.top))
        lines = (json.dumps(line.as_dict(), ensure_ascii=False) for line in found)
        write_files([(self.json, as_lines(lines))])
