"""Compare systems on contrastive sets with McNemar's test: all examples, each phenomenon, each distance, and
those that need context (Disc.).

Each file holds one system's examples, as ctxmt contrast --examples writes them; they are joined by set and
id. The test looks at the examples that only one of two systems has right: exact below 25 of them, else
chi-squared with a correction for continuity.

Example: ctxmt compare contrast baseline.examples.jsonl context.examples.jsonl --json compared.json
"""

import json


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.compare import add_common_options

    parser.add_argument("systems", metavar="EXAMPLES", nargs="+", help="examples of two or more systems")
    add_common_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast, comparison_table
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json)
    comparisons = compare_contrast(args.systems, args.all_pairs)
    print(comparison_table(comparisons))
    records = {
        "comparisons": [comparison.as_dict() for comparison in comparisons],
        "made_by": made_by(args),
    }
    write_files([(args.json, json.dumps(records, indent=2) + "\n")])
