"""The settings of beam search and their bounds. This module imports no torch."""

import math
from dataclasses import dataclass
from typing import Dict, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import flag

_MOST = 2**31 - 1  # torch and fairseq keep sizes and counts in 32-bit integers here and there
# The least and the greatest value of each setting, both allowed.
BOUNDS: Dict[str, Tuple[float, float]] = {
    "beam": (1, 1000),
    "lenpen": (-100, 100),
    "max_len_a": (0, 1000),
    "max_len_b": (0, _MOST),
    "min_len": (0, _MOST),
    "unkpen": (-1e6, 1e6),
    "no_repeat_ngram_size": (0, _MOST),
}


@dataclass(frozen=True)
class SearchSettings:
    """The settings of beam search, with the names and meanings that they have in ``fairseq-generate``.

    Attributes:
        beam: hypotheses that are kept side by side.
        lenpen: a hypothesis of n tokens is ranked by its log-probability divided by n^lenpen.
        max_len_a, max_len_b: a translation of x source tokens has at most a x + b tokens.
        min_len: it has at least so many.
        unkpen: what every unknown word costs.
        no_repeat_ngram_size: a sequence of so many tokens occurs at most once in a translation; 0: no limit.

    Raises:
        BadInput: a value of another type, or out of its ``BOUNDS``.
    """

    beam: int = 5
    lenpen: float = 1.0
    max_len_a: float = 0
    max_len_b: int = 200
    min_len: int = 1
    unkpen: float = 0
    no_repeat_ngram_size: int = 0

    def __post_init__(self) -> None:
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            whole = self.__annotations__[name] is int
            fits = type(value) is int or (type(value) is float and math.isfinite(value) and not whole)
            if not fits or not least <= value <= most:
                kind = "a whole number" if whole else "a number"
                raise BadInput(f"{flag(name)}: expected {kind} from {least:g} to {most:g}, found {value!r}")
