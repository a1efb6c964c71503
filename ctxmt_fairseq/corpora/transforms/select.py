"""Whole documents of a crawl, by the mean score of their pairs (the thesis, section 3.4.4).

PREFIX is the crawl as it was before any step. Its pairs get their scores from the files by hashes of their
texts, so a duplicate has that of its first copy; of several files scores are multiplied (adq and dom), and a
pair that a file lacks, because an earlier step left it out, has the score 0. Documents whose pairs have a
mean score above the threshold are kept whole.

--document-scores writes the score of every document, to choose a threshold by: id, pairs, mean, 1 if kept.
Memory: 16 bytes for each score.

Example: ctxmt corpus filter select text/crawl --scores adequacy.tsv domain.tsv --threshold 0.3 \\
             --document-scores documents.tsv --source-lang en --target-lang cs --out text/train
"""

import contextlib
from typing import Any, BinaryIO, Iterator, Optional, Sequence

import numpy as np

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.pair_hashes import pair_hashes
from ctxmt_fairseq.corpora.pairs import Part, part_of
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.transforms.scores import ScoreTable
from ctxmt_fairseq.corpora.writer import corpus_files
from ctxmt_fairseq.files import check_outputs, open_outputs
from ctxmt_fairseq.option_types import name, number


def add_arguments(parser: Any) -> None:
    options.add_prefix(parser)
    parser.add_argument("--scores", required=True, nargs="+", metavar="FILE",
                        help="of the steps adequacy and domain")  # fmt: skip
    parser.add_argument("--threshold", type=number(0, 1), required=True, metavar="X",
                        help="documents with a higher mean are kept")  # fmt: skip
    parser.add_argument("--document-scores", type=name, metavar="FILE.tsv", help="write them there")
    options.add_corpus_options(parser)


def run(args: Any) -> None:
    check_outputs(args.document_scores, *corpus_files(args.out, [args.source_lang, args.target_lang]))
    with contextlib.ExitStack() as stack:
        report = None
        if args.document_scores:
            report = stack.enter_context(open_outputs([args.document_scores]))[args.document_scores]
        tables = [ScoreTable(path) for path in args.scores]
        parts = select(options.text_files(args), tables, args.threshold, report)
        options.write_parts(args, "filter", "lines", parts)


def select(
    files: TextFiles, tables: Sequence[ScoreTable], threshold: float, report: Optional[BinaryIO] = None
) -> Iterator[Part]:
    """The documents whose pairs have a mean score above the threshold.

    Args:
        report: gets a line for every document: id, pairs, mean score, 1 if it is kept and else 0.
    """
    for document in files.documents():
        hashes = pair_hashes(document)
        scores = np.prod([table.of(hashes) for table in tables], axis=0)
        kept = bool(scores.mean() > threshold)
        if report is not None:
            name = document[0].document.replace("\t", " ")
            report.write(f"{name}\t{len(document)}\t{scores.mean():.6f}\t{int(kept)}\n".encode())
        part = part_of(len(document), document if kept else [], "in documents with a low score")
        part.account.remarks["pairs without a score"] += int((scores == 0).sum())
        yield part
