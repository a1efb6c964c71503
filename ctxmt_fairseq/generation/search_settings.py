"""The settings of beam search and their bounds. This module imports no torch."""

import math
from typing import Any

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import plain_number
from ctxmt_fairseq.data.context_options import flag

# A step of the search costs many operator calls, however many rows it has: with 16 a small model needs 1.7
# times as long.
DOCUMENTS_AT_ONCE = 64
_MOST = 2**31 - 1  # torch and fairseq keep sizes and counts in 32-bit integers here and there


class SearchSettings(OptionGroup):
    """The settings of beam search, with the names and meanings that they have in ``fairseq-generate``.

    A hypothesis of n tokens is ranked by its log-probability divided by n^lenpen.
    """

    beam: int = option("hypotheses that are kept side by side", 5, bounds=(1, 1000))
    lenpen: float = option("length penalty", 1.0, bounds=(-100, 100))
    max_len_a: float = option(
        "a translation has at most a x + b tokens; x are those of the longest source translated with it",
        0,
        bounds=(0, 1000),
    )
    max_len_b: int = option("the b of --max-len-a", 200, bounds=(0, _MOST))
    min_len: int = option("least tokens of a translation", 1, bounds=(0, _MOST))
    unkpen: float = option("what an unknown word costs", 0, bounds=(-1e6, 1e6))
    no_repeat_ngram_size: int = option(
        "so many tokens in a row occur at most once; 0: no limit", 0, bounds=(0, _MOST)
    )

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        for name, (least, most) in BOUNDS.items():
            value = plain_number(getattr(self, name))
            setattr(self, name, value)
            whole = self.all_fields[name].annotation is int
            fits = type(value) is int or (type(value) is float and math.isfinite(value) and not whole)
            if not fits or not least <= value <= most:
                kind = "a whole number" if whole else "a number"
                raise BadInput(f"{flag(name)}: expected {kind} from {least:g} to {most:g}, found {value!r}")

    def changed(self, **settings: Any) -> "SearchSettings":
        for name in settings.keys() - BOUNDS.keys():
            raise BadInput(f"{name}: expected a setting of the search: {', '.join(BOUNDS)}")
        return super().changed(**settings)


# The least and the greatest value of each setting, both allowed.
BOUNDS = {name: field.how["bounds"] for name, field in SearchSettings.all_fields.items()}
