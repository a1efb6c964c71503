"""The first copy of every pair of a corpus."""

from typing import Iterator

import numpy as np

from ctxmt_fairseq.corpora.assembly.pairs import Part
from ctxmt_fairseq.corpora.filtering.batches import batches, kept_lines
from ctxmt_fairseq.corpora.pair_hashes import SeenHashes, pair_hashes
from ctxmt_fairseq.corpora.text_parts import read_documents
from ctxmt_fairseq.corpora.text_rows import TextFiles


def deduplicate(files: TextFiles) -> Iterator[Part]:
    """The lines of a corpus without those whose two texts were there before, told by 64 bits.

    A document ends where lines are left out of it (``NAME#2``, ..). Memory: 8 bytes for each pair that stays.

    Raises:
        BadInput: as ``TextFiles.rows``.
    """
    seen = SeenHashes()
    for batch in batches(read_documents(files)):
        new = seen.add_new(pair_hashes(pair for document in batch for pair in document))
        yield kept_lines(batch, np.where(new, "", "duplicates"))
