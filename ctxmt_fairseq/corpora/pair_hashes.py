"""Pairs of sentences by 64 bits of their texts: which are alike, in little memory."""

import hashlib
from typing import Iterable

import numpy as np

from ctxmt_fairseq.corpora.pairs import Pair


def pair_hash(pair: Pair) -> int:
    """64 bits of a pair's two texts."""
    digest = hashlib.blake2b(f"{pair.source}\t{pair.target}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def pair_hashes(pairs: Iterable[Pair]) -> np.ndarray:
    """(N,) uint64."""
    return np.fromiter(map(pair_hash, pairs), np.uint64)


def among(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """(N,) bool: which values are in a sorted array."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[places] == values
