"""What a corpus is like: documents, sentences a document, words, subwords, lengths.

--data names a data folder of "ctxmt preprocess", whose subwords are counted; the histograms, and the shares
of sentences that are longer than L, are then of subwords, else of words. A corpus without document ids counts
as documents of one sentence. Nothing but the files that are asked for is written.

Example: ctxmt corpus stats text/train --source-lang en --target-lang de --data data-bin --json train.json \\
             --longer-than 50 100 --lengths train-lengths.tsv --plot train-lengths.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_report_options
    from ctxmt_fairseq.cli.option_types import non_negative_int

    add_report_options(parser)
    parser.add_argument("--data", metavar="DIR", help="a data folder, for its subwords")
    parser.add_argument("--longer-than", type=non_negative_int, nargs="+", default=[100], metavar="L",
                        help="print the share of longer sentences (default: 100)")  # fmt: skip
    parser.add_argument("--lengths", metavar="FILE.tsv", help="histograms: length, sentences, documents")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the histograms")


def run(args) -> None:
    import json

    from ctxmt_fairseq.analysis.map_files import check_optional_picture
    from ctxmt_fairseq.corpora.data_folder import read_description
    from ctxmt_fairseq.corpora.statistics import measure
    from ctxmt_fairseq.corpora.statistics_picture import picture
    from ctxmt_fairseq.corpora.subwords import Subwords
    from ctxmt_fairseq.corpora.text_rows import TextFiles
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.output_files import write_files
    from ctxmt_fairseq.tables import aligned_table

    languages = [args.source_lang, args.target_lang]
    check_optional_picture(args.plot, (), [args.json, args.lengths])
    if args.data:
        described = read_description(args.data)
        known = {described["source_lang"], described["target_lang"]}
        if set(languages) != known:
            raise BadInput(
                f"expected {' and '.join(languages)}, found {' and '.join(sorted(known))}", args.data
            )
    encode = [Subwords.load(args.data, language).encode_all for language in languages] if args.data else []
    files = TextFiles(args.prefix, args.source_lang, args.target_lang, ids_optional=True)
    statistics = measure(files, encode)
    record = statistics.as_dict(languages, args.longer_than)
    head = f"{record['sentences']} sentences ({record['context_only']} of them context only) in "
    print(f"{head}{record['documents']} documents ({record['documents of one sentence']} of one sentence)\n")
    rows = [
        ["", "total", "mean", "median", "max"],
        ["sentences a document", *_cells(record["sentences a document"])],
    ]
    for language, side in record["sides"].items():
        for unit in ("words", "subwords"):
            if unit in side:
                rows.append([f"{language}: {unit}", *_cells(side[unit])])
    print(aligned_table(rows) + "\n")
    unit = "subwords" if encode else "words"
    for language, side in record["sides"].items():
        for length, share in side["longer"].items():
            print(f"{language}: {share:.2%} of the sentences have more than {length} {unit}")
        print(f"{language}: {side['empty']} empty sentences")
    write_files(
        [
            (args.json, json.dumps(record, indent=2) + "\n"),
            (args.lengths, statistics.histogram(languages)),
            (args.plot, picture(statistics, languages) if args.plot else b""),
        ]
    )


def _cells(summary):
    return [str(summary["total"]), f"{summary['mean']:.2f}", str(summary["median"]), str(summary["max"])]
