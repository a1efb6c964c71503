"""Tells which pairs are alike by hashes, and writes and reads scores of pairs: the first line describes them,
each other has a hash and scores."""

import hashlib
import itertools
import math
from typing import Any, Callable, Dict, Iterable, List, Sequence

import numpy as np
from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import check_outputs, regular_file
from ctxmt_fairseq.base.journal import Journal, json_line, partial_file
from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.corpora.workers import chunks
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

Score = Callable[[List[Pair]], Sequence[np.ndarray]]
BATCH = 2048  # pairs that are scored, and kept, together


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


def write_scores(
    path: PathLike, pairs: Iterable[Pair], score: Callable[[], Score], description: Dict[str, Any]
) -> int:
    """Score all pairs, or those that no earlier run has scored; returns their number.

    Until all pairs have a score, ``PATH.partial`` has those that are done. A run with the same description
    (everything that the scores depend on, also the text, as JSON; "scores" says what they are) goes on there,
    and if ``PATH`` already has these scores, it does nothing. ``score`` loads a scorer when it is needed,
    which gives (N,) arrays for N pairs, the score first.
    """
    check_outputs(path)
    output = regular_file(path)
    if output.is_file():
        with open(output, "rb") as stream:
            if stream.readline() == json_line(description):
                return sum(1 for _ in stream)
    with Journal(partial_file(output), description) as journal:
        left = itertools.islice(tqdm(pairs, unit=" pairs", disable=None), journal.count, None)
        scorer = None
        for batch in chunks(left, BATCH):
            scorer = scorer or score()
            values = zip(*scorer(batch), strict=True)
            journal.add(*(_line(pair, its) for pair, its in zip(batch, values, strict=True)))
        journal.place(output)
    return journal.count


def _line(pair: Pair, values: Sequence[float]) -> bytes:
    columns = (repr(float(value)) if math.isfinite(value) else "inf" for value in values)
    return "\t".join([f"{pair_hash(pair):016x}", *columns]).encode() + b"\n"


class ScoreTable:
    """Reads a score file that ``write_scores`` has written to the end, at 16 bytes a pair.

    If a pair is in the file more than once, its first score counts.
    """

    def __init__(self, path: PathLike):
        lines = iterate_lines(path)
        if not next(lines, "").startswith("{"):
            raise BadInput("a score file that ctxmt corpus filter has finished begins with JSON", path, 1)
        rows = np.fromiter(_scores(lines, path), [("hash", np.uint64), ("score", np.float64)])
        self._hashes, first = np.unique(rows["hash"], return_index=True)
        self._scores = rows["score"][first]

    def of(self, hashes: np.ndarray) -> np.ndarray:
        """The scores (N,) of pairs by their hashes (N,); 0 for a pair that has none."""
        known, scores = among(hashes, self._hashes), np.zeros(len(hashes))
        scores[known] = self._scores[np.searchsorted(self._hashes, hashes[known])]
        return scores


def _scores(lines: Iterable[str], path: PathLike) -> Any:
    for number, line in enumerate(lines, 2):
        key, _, rest = line.partition("\t")
        try:
            score = float(rest.partition("\t")[0])
            if len(key) != 16 or not 0 <= score <= 1:
                raise ValueError
            yield int(key, 16), score
        except ValueError:
            raise BadInput("expected a hash, a tab and a score from 0 to 1", path, number) from None


def adequacy(forward: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """exp(-(|A - B| + (A + B) / 2)) of cross-entropies A and B (Junczys-Dowmunt 2018), (N,) from 0 to 1; 0
    for a pair of which one is infinite."""
    known = np.isfinite(forward) & np.isfinite(backward)
    a, b = np.where(known, forward, 0), np.where(known, backward, 0)
    return np.where(known, np.exp(-(np.abs(a - b) + (a + b) / 2)), 0.0)


def domain(in_domain: np.ndarray, general: np.ndarray) -> np.ndarray:
    """min(exp(-(H_in - H_gen)), 1) of cross-entropies H_in and H_gen; as ``adequacy``."""
    known = np.isfinite(in_domain) & np.isfinite(general)
    difference = np.where(known, in_domain, 0) - np.where(known, general, 0)
    return np.where(known, np.exp(-np.maximum(difference, 0)), 0.0)
