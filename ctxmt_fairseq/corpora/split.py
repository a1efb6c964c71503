"""Corpora from one: whole documents go to the one or the other, and no pair of sentences is in two."""

from array import array
from typing import Iterator, List, Set, Tuple

import numpy as np

from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.assembly.runs import runs
from ctxmt_fairseq.corpora.films import HeldOut
from ctxmt_fairseq.corpora.pair_hashes import among, pair_hash
from ctxmt_fairseq.corpora.text_parts import part_of, read_documents
from ctxmt_fairseq.corpora.text_rows import TextFiles


def split(files: TextFiles, held_out: HeldOut, duplicates: str) -> Iterator[Part]:
    """The lines of a corpus, which ``held_out`` then routes to the main one or to another.

    A pair that a later corpus has too (the main one is the first, then as given) is a duplicate, told by 64
    bits; lines that serve as context only are none. Memory: 8 bytes for each held-out pair.

    Args:
        duplicates: ``context``: they stay where they are as context only; ``leave-out``: they go, and the
            document ends there; ``keep``: they are counted.

    Raises:
        BadInput: as ``TextFiles.rows``.
    """
    hashes, found = _held_out_pairs(files, held_out)
    for document in read_documents(files):
        later = hashes[held_out(document[0].document)]
        here = np.fromiter(map(pair_hash, document), np.uint64, len(document))
        double = {int(place) for place in np.flatnonzero(among(here, later)) if document[place].current}
        if duplicates == "leave-out":
            kept = runs(document, set(range(len(document))) - double)
            yield part_of(len(document), kept, "duplicates of held-out pairs")
            continue
        if duplicates == "context":
            document = [
                pair._replace(current=pair.current and place not in double)
                for place, pair in enumerate(document)
            ]
        part = part_of(len(document), document)
        part.account.remarks[f"duplicates of held-out pairs ({duplicates})"] += len(double)
        yield part
    account = Account()
    account.remarks["listed, but not in the corpus"] += len(held_out.listed - found)
    yield Part([], account)


def _held_out_pairs(files: TextFiles, held_out: HeldOut) -> Tuple[List[np.ndarray], Set[str]]:
    """For each corpus the hashes of all pairs of later ones, sorted; and what of the lists is there."""
    found: Set[str] = set()
    each = [array("Q") for _ in range(len(held_out.prefixes) + 1)]
    for document in read_documents(files):
        name = document[0].document
        found |= {held_out.key(name)} & held_out.listed
        number = held_out(name)
        if number:
            each[number].extend(pair_hash(pair) for pair in document if pair.current)
    later: List[np.ndarray] = [np.zeros(0, np.uint64)]
    for hashes in reversed(each[1:]):
        later.append(np.union1d(later[-1], np.frombuffer(hashes, np.uint64) if hashes else later[0]))
    return later[::-1], found
