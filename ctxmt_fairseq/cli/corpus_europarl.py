"""Europarl's aligned text with its tags (<CHAPTER ID=6>, <SPEAKER ID=80 NAME="President">), v7 to v10.

SOURCE and TARGET are folders with a file per day (ep-00-01-17.txt), or two such files. A document is a
chapter; the speaker becomes metadata.

Example: ctxmt corpus europarl --source txt/en --target txt/de --source-lang en --target-lang de \\
             --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options, add_worker_options

    parser.add_argument("--source", required=True, metavar="FOLDER|FILE")
    parser.add_argument("--target", required=True, metavar="FOLDER|FILE")
    add_worker_options(parser)
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import file_wise, write_parts
    from ctxmt_fairseq.corpora.europarl import days, lines_of, pair_days

    parts = file_wise(args, pair_days, lines_of, days(args.source, args.target))
    write_parts(args, "europarl", "lines", parts)
