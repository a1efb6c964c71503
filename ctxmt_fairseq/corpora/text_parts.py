"""A corpus of text files, PREFIX.SRC, PREFIX.TGT, .., as the parts that corpora are written from."""

import itertools
from typing import Iterator, List

from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.corpora.text_rows import Row, TextFiles


def read_documents(files: TextFiles) -> Iterator[List[Pair]]:
    """The documents in order.

    Raises:
        BadInput: as ``TextFiles.rows``.
    """
    for _, rows in itertools.groupby(files.rows(), key=lambda row: row.document):
        yield list(map(_pair, rows))


def _pair(row: Row) -> Pair:
    return Pair(row.source, row.target, row.document, row.current != "0", row.metadata)


def part_of(read: int, kept: List[Pair], reason: str = "") -> Part:
    """The lines that are kept of ``read``; the others, if any, were left out for a reason."""
    account = Account(read=read, kept=len(kept))
    if read > len(kept):
        account.left_out[reason] = read - len(kept)
    return Part(kept, account)
