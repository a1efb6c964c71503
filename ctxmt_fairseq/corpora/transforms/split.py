"""Splits a corpus by documents."""

from array import array
from typing import Iterator, List, Set, Tuple

import numpy as np

from ctxmt_fairseq.corpora.films import HeldOut
from ctxmt_fairseq.corpora.pair_hashes import among, pair_hash, pair_hashes
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles


def split(files: TextFiles, held_out: HeldOut, duplicates: str) -> Iterator[Part]:
    """Mark or leave out what later corpora hold out; ``held_out`` then routes each document to its corpus.

    A pair is compared by 64 bits, in memory for held-out pairs; lines that are only context do not count.
    """
    hashes, found = _held_out_pairs(files, held_out)
    for document in files.documents():
        later = hashes[held_out(document[0].document)]
        double = among(pair_hashes(document), later) & [pair.current for pair in document]
        if duplicates == "leave-out":
            kept = runs(document, np.flatnonzero(~double).tolist())
            yield part_of(len(document), kept, "duplicates of held-out pairs")
            continue
        if duplicates == "context":
            document = [pair._replace(current=pair.current and not twice)
                        for pair, twice in zip(document, double, strict=True)]  # fmt: skip
        part = part_of(len(document), document)
        part.account.remarks[f"duplicates of held-out pairs ({duplicates})"] += int(double.sum())
        yield part
    part = part_of(0, [])
    part.account.remarks["listed, but not in the corpus"] += len(held_out.listed - found)
    yield part


def _held_out_pairs(files: TextFiles, held_out: HeldOut) -> Tuple[List[np.ndarray], Set[str]]:
    """For each corpus the sorted hashes of all pairs of later ones; and which listed names the corpus has."""
    found: Set[str] = set()
    each = [array("Q") for _ in range(len(held_out.prefixes) + 1)]
    for document in files.documents():
        name = document[0].document
        found |= {held_out.key(name)} & held_out.listed
        number = held_out(name)
        if number:
            each[number].extend(pair_hash(pair) for pair in document if pair.current)
    later = [np.zeros(0, np.uint64)]
    for hashes in reversed(each[1:]):
        later.append(np.union1d(later[-1], np.array(hashes, np.uint64)))
    return later[::-1], found
