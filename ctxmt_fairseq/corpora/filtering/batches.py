"""Steps that look at many documents at once, and leave lines out of them."""

from typing import Iterable, Iterator, List

import numpy as np

from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.corpora.assembly.runs import runs

BATCH = 10_000  # pairs, and at least a document
Documents = List[List[Pair]]


def batches(documents: Iterable[List[Pair]], size: int = BATCH) -> Iterator[Documents]:
    """Documents in batches of at least ``size`` pairs, but for the last."""
    batch: Documents = []
    pairs = 0
    for document in documents:
        batch.append(document)
        pairs += len(document)
        if pairs >= size:
            yield batch
            batch, pairs = [], 0
    if batch:
        yield batch


def kept_lines(batch: Documents, reasons: np.ndarray) -> Part:
    """A batch without the pairs that a step leaves out.

    Args:
        reasons: (N,) of the batch's pairs in order; the reason why a pair is left out, "" for one that stays.
    """
    account = Account(read=len(reasons))
    kept: List[Pair] = []
    start = 0
    for document in batch:
        here = reasons[start : start + len(document)]
        kept += runs(document, np.flatnonzero(here == "").tolist())
        start += len(document)
    account.kept = len(kept)
    for reason in filter(None, reasons.tolist()):
        account.left_out[reason] += 1
    return Part(kept, account)
