"""Tells which pairs of sentences are alike by 64 bits of their texts, in little memory."""

import hashlib
from typing import Iterable

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
