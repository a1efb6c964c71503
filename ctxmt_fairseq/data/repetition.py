"""Repeats examples within an epoch, so that a training sees some of them more often than others."""

import numpy as np

from ctxmt_fairseq.data import randomness


class Repetition:
    """How often (1 or more ``times``) each of n examples, whose lines increase, is seen in an epoch. 2.5
    times is twice in each epoch, and once more in half of them, which (seed, epoch, line) draws. The copies
    of an example are equal: they also have the same draws (``--sample-context-size`` and the like)."""

    def __init__(self, lines: np.ndarray, times: np.ndarray, seed: int):
        self.lines, self.seed = np.asarray(lines, np.int32), seed
        self.whole = times.astype(np.int64)
        self.rest = times - self.whole

    @property
    def depends_on_epoch(self) -> bool:
        """Whether another epoch has other examples."""
        return bool(self.rest.any())

    def of(self, epoch: int) -> np.ndarray:
        """The lines of an epoch's examples, increasing, with those that are seen m times m times."""
        draws = randomness.uniform(randomness.REPETITION, self.seed, epoch, self.lines)
        return np.repeat(self.lines, self.whole + (draws < self.rest))
