"""Corpora from one, such as training, development and test text: whole documents go to the one or the other.

--held-out names another corpus, and what goes there: documents of a list (one id on each line), or a share of
all, drawn by a hash of the id, so the same in every language. --by film goes by the film in ids
YEAR/IMDB/FILE, whose documents then stay together.

A pair of sentences that a later --held-out has too is a duplicate. With --duplicates context, the default, it
stays as context only (PREFIX.current), so that nothing is trained on what is tested; leave-out: it goes, and
the document ends there; keep: duplicates are only counted.

Example: ctxmt corpus split text/all --held-out text/dev=0.01 --held-out text/test=test-ids.txt \\
             --source-lang en --target-lang de --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options
    from ctxmt_fairseq.cli.option_types import name

    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")
    parser.add_argument("--held-out", action="append", required=True, metavar="PREFIX=FILE|SHARE",
                        help="documents for another corpus: a list of ids, or a share of all")  # fmt: skip
    parser.add_argument("--by", choices=("document", "film"), default="document",
                        help="what ids and shares are of (default: document)")  # fmt: skip
    parser.add_argument("--duplicates", choices=("context", "leave-out", "keep"), default="context",
                        help="pairs that a later corpus has (default: context)")  # fmt: skip
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora.films import HeldOut
    from ctxmt_fairseq.corpora.split import split
    from ctxmt_fairseq.corpora.text_rows import TextFiles

    held_out = HeldOut(args.held_out, args.by)
    files = TextFiles(args.prefix, args.source_lang, args.target_lang)
    write_parts(args, "split", "lines", split(files, held_out, args.duplicates), held_out)
