"""When the sentences of subtitles are on the screen."""

from typing import NamedTuple, Sequence

import numpy as np


class Event(NamedTuple):
    """A time mark.

    Attributes:
        sentence: the sentence that it stands in, from 0.
        position: characters of that sentence before it, blanks not counted.
        end: whether a subtitle disappears then (else it appears).
        seconds: from the film's beginning.
    """

    sentence: int
    position: int
    end: bool
    seconds: float


class Timed(NamedTuple):
    """Times of N sentences in seconds.

    Attributes:
        starts, ends: (N,).
        interpolated: sentences of which the start or the end is not marked.
    """

    starts: np.ndarray
    ends: np.ndarray
    interpolated: int


def sentence_times(lengths: Sequence[int], events: Sequence[Event]) -> Timed:
    """Start and end of each sentence.

    A subtitle may hold several sentences, and a sentence several subtitles, so either time may stand in
    another sentence. Time is taken to pass evenly over the characters between two marks.

    Args:
        lengths: characters of each sentence, blanks not counted.
        events: at least one, in the order of the text.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    # Between two sentences lies a place of its own: what ends there is not what begins there.
    begin = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    places = [begin[event.sentence] + event.position for event in events]
    seconds = [event.seconds for event in events]
    starts, ends = (np.interp(edge, places, seconds) for edge in (begin, begin + sizes))
    marked = {
        False: np.zeros(len(sizes), bool),
        True: np.zeros(len(sizes), bool),
    }
    for event in events:
        edge = sizes[event.sentence] if event.end else 0
        if event.position == edge:
            marked[event.end][event.sentence] = True
            (ends if event.end else starts)[event.sentence] = event.seconds
    return Timed(starts, ends, int((~(marked[False] & marked[True])).sum()))
