"""Random numbers that depend on (seed, epoch, sentence, draw) alone.

A resumed run, another number of loader workers or another order of access must give the same data. Therefore
every number is a hash of its coordinates, computed for whole arrays at once: such a generator has no state.
"""

import numpy as np

_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)

# Numbers are drawn from separate streams, so that one option does not shift another's numbers.
CONTEXT_SIZE, RANDOM_CONTEXT, COWORD, ORDER, CONTEXT_DROPOUT, REPETITION = range(6)


def _mix(value: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele et al. 2014), on uint64 arrays of any shape."""
    with np.errstate(over="ignore"):
        value = value + _INCREMENT
        value = (value ^ (value >> np.uint64(30))) * _MULTIPLIERS[0]
        value = (value ^ (value >> np.uint64(27))) * _MULTIPLIERS[1]
        return value ^ (value >> np.uint64(31))


def bits(stream: int, seed: int, epoch: int, index, draw=0) -> np.ndarray:
    """Draw 64 random bits for each (index, draw), which broadcast against each other: uint64."""
    value = np.zeros((), np.uint64)
    for coordinate in (stream, seed, epoch, index, draw):
        value = _mix(value ^ np.asarray(coordinate).astype(np.uint64))
    return value


def uniform(stream: int, seed: int, epoch: int, index, draw=0) -> np.ndarray:
    """Draw uniform numbers in [0, 1) for each (index, draw): float64."""
    return (bits(stream, seed, epoch, index, draw) >> np.uint64(11)).astype(np.float64) * 2.0**-53
