"""Tells which pairs of sentences are alike by 64 bits of their texts, in little memory."""

import hashlib
from typing import Iterable, List

import numpy as np

from ctxmt_fairseq.corpora.pairs import Pair


def pair_hash(pair: Pair) -> int:
    """64 bits of a pair's two texts."""
    digest = hashlib.blake2b(f"{pair.source}\t{pair.target}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def pair_hashes(pairs: Iterable[Pair]) -> np.ndarray:
    """The hashes of N pairs, (N,) uint64."""
    return np.fromiter(map(pair_hash, pairs), np.uint64)


def among(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Tell which values are in a sorted array, (N,) bool."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[places] == values


class SeenHashes:
    """A growing set of hashes, which takes 8 bytes for each (16 while sorted arrays are joined).

    It has sorted arrays, each at least twice as long as the next, so a look-up searches few of them, and a
    hash
    is moved few times.
    """

    def __init__(self) -> None:
        self._arrays: List[np.ndarray] = []

    def add_new(self, hashes: np.ndarray) -> np.ndarray:
        """Add hashes (N,); returns which were not there before, (N,) bool. Of equal ones the first counts as
        new."""
        new = np.zeros(len(hashes), bool)
        distinct, first = np.unique(hashes, return_index=True)
        known = np.zeros(len(distinct), bool)
        for array in self._arrays:
            known |= among(distinct, array)
        new[first[~known]] = True
        latest = distinct[~known]
        while self._arrays and len(self._arrays[-1]) < 2 * len(latest):
            latest = np.sort(np.concatenate([self._arrays.pop(), latest]))
        if len(latest):
            self._arrays.append(latest)
        return new
