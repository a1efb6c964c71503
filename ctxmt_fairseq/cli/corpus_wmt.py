"""Test sets and news of WMT: SGM, XML as of 2021, and plain text with its documents.

SGM has source and reference in two files; XML has both in one, which is then given twice, and of several
references the first is taken unless --by names another, or --system the output of a system. Plain text has
blank lines between documents (News-Commentary, Europarl v10: --blank-lines), or a file of names (WMT24:
--docs). Every line of a test set stays, also an empty one.

Examples:
  ctxmt corpus wmt --source newstest2015-src.en.sgm --target newstest2015-ref.de.sgm \\
      --source-lang en --target-lang de --out text/test
  ctxmt corpus wmt --source newstest2021.en-de.xml --target newstest2021.en-de.xml --by A \\
      --source-lang en --target-lang de --out text/test
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options, add_side_options

    add_side_options(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--by", metavar="NAME", help="translator of the reference")
    which.add_argument("--system", metavar="NAME", help="the translation of this system")
    which.add_argument("--blank-lines", action="store_true", help="plain text, documents by blank lines")
    which.add_argument("--docs", metavar="FILE", help="plain text, DOMAIN<tab>DOCUMENT of every line")
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_parts, write_sides
    from ctxmt_fairseq.corpora import aligned_lines
    from ctxmt_fairseq.errors import BadInput

    if not (args.blank_lines or args.docs):
        write_sides(args, "wmt", "hyp" if args.system else "ref", args.system or args.by)
        return
    if not len(args.source) == len(args.target) == 1:
        raise BadInput("--source, --target: expected one file of plain text each")
    if args.docs:
        parts = aligned_lines.documents_by_names(args.source[0], args.target[0], args.docs)
    else:
        parts = aligned_lines.documents_by_blank_lines(args.source[0], args.target[0])
    write_parts(args, "wmt", "lines", parts)
