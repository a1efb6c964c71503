"""Any corpus of OPUS with XML and an alignment: Europarl, News-Commentary, TED2020, Books, ...

--alignment is OPUS' alignment file of the two languages, --xml the documents of both: folders, or the .zip
files as downloaded, which are never unpacked. A document ends at sentences that have no counterpart; with
--unaligned keep they stay as lines that serve as context only (PREFIX.current). Chapters and speakers become
metadata where the source side has them (PREFIX.meta.jsonl).

Example: ctxmt corpus opus --alignment de-en.xml.gz --xml de.zip en.zip --source-lang en --target-lang de \\
             --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options, add_opus_options, add_sample_options

    add_opus_options(parser)
    parser.add_argument("--unaligned", choices=("end", "keep"), default="end",
                        help="sentences without counterpart end a document, or are context")  # fmt: skip
    parser.add_argument(
        "--clean", default="none", metavar="NAMES", help="steps of cleaning, see opensubtitles"
    )
    add_sample_options(parser)
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_opus
    from ctxmt_fairseq.corpora.cleaning import chosen_steps

    keep = args.unaligned == "keep"
    write_opus(args, "opus", {"cleaning": chosen_steps(args.clean), "keep_unaligned": keep})
