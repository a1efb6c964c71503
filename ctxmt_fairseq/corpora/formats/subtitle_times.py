"""Tells when the sentences of subtitles are on the screen."""

from typing import NamedTuple

import numpy as np


class Marks(NamedTuple):
    """M marks of time, in the order of the text.

    Attributes:
        sentences: (M,), the sentence that each is in, from 0.
        positions: (M,), characters of that sentence before it, blanks not counted.
        ends: (M,), whether a subtitle disappears then (else it appears).
        seconds: (M,), from the film's beginning.
    """

    sentences: np.ndarray
    positions: np.ndarray
    ends: np.ndarray
    seconds: np.ndarray


class Timed(NamedTuple):
    """Times of N sentences in seconds.

    Attributes:
        starts, ends: (N,).
        interpolated: sentences of which the start or the end is not marked.
    """

    starts: np.ndarray
    ends: np.ndarray
    interpolated: int


def sentence_times(lengths: np.ndarray, marks: Marks) -> Timed:
    """Find the start and the end of each sentence.

    A subtitle may hold several sentences, and a sentence several subtitles, so the mark of either time may be
    in another sentence. Between two marks, time is taken to pass evenly over the characters.

    Args:
        lengths: (N,), characters of each sentence, blanks not counted.
        marks: at least one.
    """
    # One place lies between two sentences, so the end of one is not the beginning of the next.
    begin = np.concatenate(([0], np.cumsum(lengths + 1)[:-1]))
    places = begin[marks.sentences] + marks.positions
    starts, ends = (np.interp(edge, places, marks.seconds) for edge in (begin, begin + lengths))
    known = np.zeros((2, len(lengths)), bool)
    for kind, times, edges in ((0, starts, np.zeros_like(lengths)), (1, ends, lengths)):
        here = (marks.ends == kind) & (marks.positions == edges[marks.sentences])
        times[marks.sentences[here]] = marks.seconds[here]  # of several the last
        known[kind, marks.sentences[here]] = True
    return Timed(starts, ends, int((~known.all(0)).sum()))
