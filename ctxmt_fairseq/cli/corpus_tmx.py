"""TMX of web crawls, as ParaCrawl releases it: documents by the addresses of the pages (source-document).

A document is a run of pairs that have a page in common on either side; a pair that is on several pages
belongs to the run that it stands in. Its id is the two addresses. Files are read as they are, .gz or not, and
memory does not grow with them. What is worth training on of a crawl: "ctxmt corpus filter". --clean as of
"ctxmt corpus opensubtitles".

Example: ctxmt corpus tmx --tmx en-cs.tmx.gz --source-lang en --target-lang cs --out text/crawl
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options

    parser.add_argument("--tmx", required=True, nargs="+", metavar="FILE", help="read one after the other")
    parser.add_argument(
        "--clean", default="none", metavar="NAMES", help="steps of cleaning, see opensubtitles"
    )
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora.cleaning import chosen_steps
    from ctxmt_fairseq.corpora.tmx import tmx_documents

    languages = args.source_lang, args.target_lang
    write_parts(args, "tmx", "units", tmx_documents(args.tmx, languages, chosen_steps(args.clean)))
