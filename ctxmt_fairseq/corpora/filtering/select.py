"""Whole documents by the mean score of their pairs (the thesis, section 3.4.4)."""

from typing import BinaryIO, Iterator, Optional, Sequence

from ctxmt_fairseq.corpora.assembly.pairs import Part
from ctxmt_fairseq.corpora.filtering.scores import ScoreTable, product
from ctxmt_fairseq.corpora.pair_hashes import pair_hashes
from ctxmt_fairseq.corpora.text_parts import part_of, read_documents
from ctxmt_fairseq.corpora.text_rows import TextFiles


def select(
    files: TextFiles, tables: Sequence[ScoreTable], threshold: float, report: Optional[BinaryIO] = None
) -> Iterator[Part]:
    """The documents whose pairs have a mean score above the threshold.

    Args:
        tables: whose scores are multiplied; a pair that one of them lacks has the score 0.
        report: gets a line for every document: id, pairs, mean score and 1 if it is kept, else 0.

    Raises:
        BadInput: as ``TextFiles.rows``.
    """
    for document in read_documents(files):
        scores = product(tables, pair_hashes(document))
        kept = bool(scores.mean() > threshold)
        if report is not None:
            name = document[0].document.replace("\t", " ")
            report.write(f"{name}\t{len(document)}\t{scores.mean():.6f}\t{int(kept)}\n".encode())
        part = part_of(len(document), document if kept else [], "in documents with a low score")
        part.account.remarks["pairs without a score"] += int((scores == 0).sum())
        yield part
