"""The corpora that Voita et al. released: short documents, with context that is not translated.

2018: --context has the previous source sentence of each line of --source and --target.
2019: a line of --source and --target is four sentences joined by _eos; --current says which are translated,
all or the last.

Examples:
  ctxmt corpus voita --context train.ctx --source train.src --target train.dst \\
      --source-lang en --target-lang ru --out text/train
  ctxmt corpus voita --current last --source en_train --target ru_train \\
      --source-lang en --target-lang ru --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options

    parser.add_argument("--source", required=True, metavar="FILE")
    parser.add_argument("--target", required=True, metavar="FILE")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--context", metavar="FILE", help="2018: the previous source sentences")
    which.add_argument("--current", choices=("all", "last"), help="2019: the sentences that are translated")
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora import voita

    if args.context:
        parts = voita.sentences_with_context(args.context, args.source, args.target)
    else:
        parts = voita.joined_sentences(args.source, args.target, args.current)
    write_parts(args, "voita", "sentences", parts)
