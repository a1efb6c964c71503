"""One corpus from several: real and back-translated text, a large corpus and a small one of the domain.

With ratios the corpora are to each other, in sentences, as these: the one that is largest for its ratio is
taken as it is, the others are repeated; of the last repetition documents are taken at even distances. Without
ratios each is taken once. A corpus without document ids becomes documents of one sentence. The ids get the
number of the corpus and of the repetition before them (2.1/NAME).

Example: ctxmt corpus mix text/crawl=1 text/talks=1 --source-lang en --target-lang de --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options
    from ctxmt_fairseq.cli.option_types import name

    parser.add_argument(
        "corpora", type=name, nargs="+", metavar="PREFIX[=RATIO]", help="of the files of each"
    )
    add_corpus_options(parser)


def run(args) -> None:
    from fractions import Fraction

    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora.mix import mix, repetitions
    from ctxmt_fairseq.corpora.text_rows import TextFiles
    from ctxmt_fairseq.errors import BadInput

    named = [_prefix_and_ratio(text) for text in args.corpora]
    ratios = [ratio for _, ratio in named if ratio is not None]
    if ratios and len(ratios) < len(named):
        raise BadInput("expected a ratio for each corpus, or none")
    files = [TextFiles(prefix, args.source_lang, args.target_lang, ids_optional=True) for prefix, _ in named]
    times = repetitions(files, ratios) if ratios else [Fraction(1)] * len(files)
    write_parts(args, "mix", "lines", mix(files, times))


def _prefix_and_ratio(text):
    from fractions import Fraction

    from ctxmt_fairseq.errors import BadInput

    prefix, equals, number = text.rpartition("=")
    if not equals:
        return text, None
    try:
        ratio = Fraction(number)
    except (ValueError, ZeroDivisionError):
        ratio = Fraction(0)
    if not prefix or not Fraction(1, 10**6) <= ratio <= 10**6:
        raise BadInput(f"{text}: expected PREFIX=RATIO, a number from 0.000001 to 1000000")
    return prefix, ratio
