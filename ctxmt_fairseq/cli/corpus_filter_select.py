"""Whole documents of a crawl, by the mean score of their pairs.

PREFIX is the crawl as it was before any step. Its pairs get their scores from the files by hashes of their
texts, so a duplicate has that of its first copy; of several files scores are multiplied (adq and dom), and a
pair that a file lacks, because an earlier step left it out, has the score 0. Documents whose pairs have a
mean score above the threshold are kept whole.

--document-scores writes the score of every document, to choose a threshold by: id, pairs, mean, 1 if kept.
Memory: 16 bytes for each score.

Example: ctxmt corpus filter select text/crawl --scores adequacy.tsv domain.tsv --threshold 0.3 \\
             --document-scores documents.tsv --source-lang en --target-lang cs --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options
    from ctxmt_fairseq.cli.option_types import name, number

    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")
    parser.add_argument("--scores", required=True, nargs="+", metavar="FILE",
                        help="of the steps adequacy and domain")  # fmt: skip
    parser.add_argument("--threshold", type=number(0, 1), required=True, metavar="X",
                        help="documents with a higher mean are kept")  # fmt: skip
    parser.add_argument("--document-scores", type=name, metavar="FILE.tsv", help="write them there")
    add_corpus_options(parser)


def run(args) -> None:
    import contextlib

    from ctxmt_fairseq.cli.corpus_options import write_parts
    from ctxmt_fairseq.corpora.assembly.writer import corpus_files
    from ctxmt_fairseq.corpora.filtering.scores import ScoreTable
    from ctxmt_fairseq.corpora.filtering.select import select
    from ctxmt_fairseq.corpora.text_rows import TextFiles
    from ctxmt_fairseq.output_files import check_outputs, open_outputs

    files = TextFiles(args.prefix, args.source_lang, args.target_lang)
    check_outputs(args.document_scores, *corpus_files(args.out, [args.source_lang, args.target_lang]))
    with contextlib.ExitStack() as stack:
        report = None
        if args.document_scores:
            report = stack.enter_context(open_outputs([args.document_scores]))[args.document_scores]
        tables = [ScoreTable(path) for path in args.scores]
        write_parts(args, "filter", "lines", select(files, tables, args.threshold, report))
