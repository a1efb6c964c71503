"""The first copy of every pair of a corpus: scoring the others again would cost time for nothing.

Pairs are told apart by 64 bits of their two texts. What stays is a corpus again, in which a document ends
where lines were left out. Memory: 8 bytes for each pair that stays.

Example: ctxmt corpus filter deduplicate text/crawl --source-lang en --target-lang cs --out text/unique
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options
    from ctxmt_fairseq.cli.option_types import name

    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora.filtering.deduplicate import deduplicate
    from ctxmt_fairseq.corpora.text_rows import TextFiles

    files = TextFiles(args.prefix, args.source_lang, args.target_lang, ids_optional=True)
    write_parts(args, "filter", "lines", deduplicate(files))
