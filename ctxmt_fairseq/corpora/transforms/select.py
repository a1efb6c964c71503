"""Keeps whole documents of a crawl by the mean score of their pairs."""

from typing import BinaryIO, Iterator, Optional, Sequence

import numpy as np

from ctxmt_fairseq.corpora.pair_hashes import pair_hashes
from ctxmt_fairseq.corpora.pairs import Part, part_of
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.transforms.pair_scores import ScoreTable


def select(
    files: TextFiles, tables: Sequence[ScoreTable], threshold: float, report: Optional[BinaryIO] = None
) -> Iterator[Part]:
    """Keep the documents whose pairs have a mean score above the threshold; the report gets a line for every
    document: id, pairs, mean score, and 1 if it is kept, else 0."""
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
