"""The lines that systems translate differently, side by side, with the sentences before them (thesis, 6.3.9;
MTCue, table 7).

Sorted by the difference of their sentence-level chrF, the last system's minus the first's: what it gains most
comes first, what it loses most last. --json has all differing lines in this order.

Example: ctxmt compare lines test.en test.fr baseline.hyp context.hyp --docids test.docids --json lines.jsonl
"""

import json


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import non_negative_int, positive_int

    parser.add_argument("source", metavar="SRC", help="the sentences that were translated, one per line")
    parser.add_argument("reference", metavar="REF", help="line by line as SRC")
    parser.add_argument("systems", metavar="HYP", nargs="+",
                        help="two or more translations, line by line as SRC, or NAME=HYP")  # fmt: skip
    parser.add_argument("--docids", metavar="FILE", help="document ids, one per line; without, no context")
    parser.add_argument("--current", metavar="FILE", help="0 or 1 per line: 0 serves as context only")
    parser.add_argument("--metadata", metavar="NAME",
                        help="prefix of NAME.meta.jsonl or NAME.meta.FIELD, or a file of JSON objects"
                        )  # fmt: skip
    parser.add_argument("--context", type=non_negative_int, default=2, metavar="N",
                        help="sentences before a line that are shown (default: %(default)s)")  # fmt: skip
    parser.add_argument("--metric", choices=("chrf1", "chrf2", "chrf3"), default="chrf2",
                        help="(default: %(default)s)")  # fmt: skip
    parser.add_argument("--lowercase", action="store_true", help="ignore case in the scores")
    parser.add_argument("--top", type=positive_int, default=10, metavar="N",
                        help="lines printed at either end (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write all of them there, as JSON lines")


def run(args) -> None:
    from ctxmt_fairseq.analysis.system_names import named_paths
    from ctxmt_fairseq.data.documents import Documents
    from ctxmt_fairseq.data.metadata_files import MetadataFiles
    from ctxmt_fairseq.data.text_lines import read_flags
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.differing_lines import LinedText, differing_lines, listing
    from ctxmt_fairseq.evaluation.metrics import read_translation
    from ctxmt_fairseq.evaluation.significance.measures import measure
    from ctxmt_fairseq.files import check_outputs, write_files

    check_outputs(args.json)
    systems = named_paths(args.systems)
    names = [name for name, _ in systems]
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise BadInput(f"expected two or more systems of different names, found {', '.join(names)}")
    texts = [read_translation(path, [args.source, args.reference]) for _, path in systems]
    sources, references = texts[0].references
    count = len(sources)
    metadata = None
    if args.metadata:
        rows = ((number + 1, None) for number in range(count))
        metadata = [values for _, values in MetadataFiles.named(args.metadata).of_rows(rows)]
    text = LinedText(
        sources, references, {name: each.hypotheses for name, each in zip(names, texts, strict=True)},
        Documents.read(args.docids, count) if args.docids else None,
        read_flags(args.current, count) if args.current else None, metadata,
    )  # fmt: skip
    scorer = measure(args.metric, lowercase=args.lowercase)
    found = differing_lines(text, scorer, args.context)
    print(listing(found, names, args.metric, len(text.translated), args.top))
    lines = "".join(json.dumps(line.as_dict(), ensure_ascii=False) + "\n" for line in found)
    write_files([(args.json, lines)])
