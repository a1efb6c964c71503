"""Whole documents of a crawl, by the mean score of their pairs."""

from typing import Iterator, List, Sequence

import numpy as np

from ctxmt_fairseq.corpora.pair_hashes import pair_hashes
from ctxmt_fairseq.corpora.pairs import Part, part_of
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.transforms.scores import ScoreTable


def select(
    files: TextFiles, tables: Sequence[ScoreTable], threshold: float, rows: List[str]
) -> Iterator[Part]:
    """The documents whose pairs have a mean score above the threshold; ``rows`` gets a line for each."""
    for document in files.documents():
        hashes = pair_hashes(document)
        scores = np.prod([table.of(hashes) for table in tables], axis=0)
        kept = bool(scores.mean() > threshold)
        id = document[0].document.replace("\t", " ")
        rows.append(f"{id}\t{len(document)}\t{scores.mean():.6f}\t{int(kept)}\n")
        part = part_of(len(document), document if kept else [], "in documents with a low score")
        part.account.remarks["pairs without a score"] += int((scores == 0).sum())
        yield part
