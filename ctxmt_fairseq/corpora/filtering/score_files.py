"""Files of scores: a head that says what they were made with, then hash, score and more of each pair."""

import itertools
import json
import math
import os
from array import array
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Sequence, Tuple, Union

import numpy as np

from ctxmt_fairseq.corpora.assembly.pairs import Pair
from ctxmt_fairseq.corpora.pair_hashes import pair_hash
from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.drafts import sync_folder
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.output_files import check_outputs, destination, writing
from ctxmt_fairseq.partial_files import lock_partial, partial_file

PathLike = Union[str, Path]
Score = Callable[[List[Pair]], Sequence[np.ndarray]]
_LONGEST_HEAD = 1 << 20  # bytes
BATCH = 2048  # pairs that are scored, and kept, together


def write_scores(
    path: PathLike,
    pairs: Callable[[], Iterable[Pair]],
    score: Callable[[], Score],
    description: Dict[str, Any],
) -> int:
    """Score all pairs, or those that no earlier run has scored.

    Until all are, ``PATH.partial`` holds what is done. Another run with the same description goes on there,
    and where ``PATH`` holds these scores of these very pairs nothing is done at all.

    Args:
        pairs: gives all pairs, from the first on.
        score: makes what gives (N,) arrays for N pairs, the score first; called when it is needed.
        description: what the scores depend on besides the texts, for JSON; its "scores" says what they are.

    Returns:
        the number of pairs.

    Raises:
        BadInput: the output cannot be written, another run is writing to it, or it holds other scores.
    """
    check_outputs(path)
    file = destination(path).file
    if file is None:
        raise BadInput("cannot be written: expected the name of a regular file", path)
    head = json.dumps(description, ensure_ascii=False, sort_keys=True).encode() + b"\n"
    partial_path = partial_file(file)
    if not partial_path.exists() and _holds(file, head, pairs()):
        return sum(1 for _ in pairs())
    scorer = None
    number = 0
    with writing(path), _Partial(partial_path, head) as partial:
        for batch in _batches(pairs()):
            left = batch[partial.skip(map(pair_hash, batch)) :]
            if left:
                scorer = scorer or score()
                for pair, values in zip(left, zip(*scorer(left), strict=True), strict=True):
                    partial.add(_line(pair, values))
                partial.flush()
            number += len(batch)
        partial.end()
        os.replace(partial.path, file)
        sync_folder(file.parent)
    return number


def read_scores(path: PathLike) -> Tuple[np.ndarray, np.ndarray]:
    """Hashes (N,) uint64 and scores (N,) float64 of a score file.

    Raises:
        BadInput: no such file, or none that ``write_scores`` has written to the end.
    """
    hashes, scores = array("Q"), array("d")
    lines = iterate_lines(path)
    if not _is_head(next(lines, "").encode() + b"\n"):
        raise BadInput("expected scores of ctxmt corpus filter, which begin with a JSON object", path, 1)
    for number, line in enumerate(lines, 2):
        columns = line.split("\t")
        try:
            key, value = int(columns[0], 16), float(columns[1])
            right = len(columns[0]) == 16 and 0 <= value <= 1
        except (ValueError, IndexError):
            right = False
        if not right:
            raise BadInput("expected a hash, a tab and a score from 0 to 1", path, number)
        hashes.append(key)
        scores.append(value)
    return np.array(hashes, np.uint64), np.array(scores, np.float64)


def _is_head(line: bytes) -> bool:
    try:
        return line.endswith(b"\n") and "scores" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False


def _line(pair: Pair, values: Sequence[float]) -> bytes:
    columns = (repr(float(value)) if math.isfinite(value) else "inf" for value in values)
    return "\t".join([f"{pair_hash(pair):016x}", *columns]).encode() + b"\n"


def _batches(pairs: Iterable[Pair]) -> Iterator[List[Pair]]:
    left = iter(pairs)
    while batch := list(itertools.islice(left, BATCH)):
        yield batch


def _holds(file: Path, head: bytes, pairs: Iterable[Pair]) -> bool:
    """Whether a file has this head, and then the hashes of these pairs."""
    if not file.is_file():
        return False
    with open(file, "rb") as stream:
        if stream.readline(len(head) + 1) != head:
            return False
        for pair in pairs:
            if stream.readline()[:16] != f"{pair_hash(pair):016x}".encode():
                return False
        return not stream.read(1)


class _Partial:
    """The file of a run that has not ended: what is there is read first, then it is written on.

    Raises:
        BadInput: another run holds it, or it has another head.
    """

    def __init__(self, path: Path, head: bytes):
        self.path = path
        self._lock = lock_partial(path, head, "ctxmt corpus filter")
        self._stream: BinaryIO = open(path, "a+b")
        self._stream.seek(0)
        found = self._stream.readline(_LONGEST_HEAD)
        if found != head:
            # One that was killed before the first score, or with its head half written, left nothing behind.
            empty = head.startswith(found) or (_is_head(found) and not self._stream.read(1))
            if not empty:
                self._lock.close()
                self._stream.close()
                raise BadInput("holds scores of another run; delete it to start anew", path)
            self._stream.truncate(0)
            self._stream.write(head)
        self._head = self._intact = len(head)
        self._reading = found == head
        self._lines = 1

    def skip(self, hashes: Iterable[int]) -> int:
        """How many pairs, from the first on, have their scores already.

        Raises:
            BadInput: the file holds the score of another pair.
        """
        number = 0
        for key in hashes:
            line = self._stream.readline() if self._reading else b""
            if not line.endswith(b"\n"):
                if self._reading:
                    self._stream.truncate(self._intact)  # half a line of a run that was killed
                self._reading = False
                return number
            self._lines += 1
            if line[:16] != f"{key:016x}".encode():
                message = "expected the scores of the same text; delete the file to start anew"
                raise BadInput(message, self.path, self._lines)
            self._intact += len(line)
            number += 1
        return number

    def add(self, line: bytes) -> None:
        self._stream.write(line)

    def flush(self) -> None:
        self._stream.flush()

    def end(self) -> None:
        """Put it on disk.

        Raises:
            BadInput: it holds more than was asked for.
        """
        if self._reading and self._stream.readline():
            raise BadInput("holds more scores than the text has lines; delete it to start anew", self.path)
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def __enter__(self) -> "_Partial":
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stream.close()
        except OSError:  # the disk is full: said where it happened
            pass
        if self.path.exists() and self.path.stat().st_size <= self._head:  # no score was made
            self.path.unlink()
        self._lock.close()
