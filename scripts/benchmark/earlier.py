"""Ratios of an earlier call (``--json``) beside those of this one: a regression is seen.

Ratios are compared, not seconds, which belong to a machine and its load.
"""

import sys
from dataclasses import dataclass
from statistics import median
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import PathLike
from scripts.benchmark.paired import Comparison

HEAD = ["earlier", "min", "max", "now / earlier"]
APART = "* all pairs of this call lie above, or all below, those of the earlier one; each has several"


class Ratio(NamedTuple):
    """Of a measurement's pairs: the median, the least and the greatest."""

    median: float
    min: float
    max: float


@dataclass(frozen=True)
class Earlier:
    """What an earlier call measured: on what machine, and the ratios by ``Comparison.title``."""

    machine: str
    ratios: Dict[str, Ratio]

    @classmethod
    def read(cls, path: PathLike) -> "Earlier":
        """A file that ``--json`` wrote. Raises BadInput: it is none."""
        report, ratios = load_json(path), {}
        for number, entry in enumerate(get(Place(path), report, "comparisons", list), 1):
            place = Place(path, part=f"measurement {number}")
            name, ways, ratio = (
                get(place, entry, key, kind) for key, kind in (("name", str), ("ways", list), ("ratio", dict))
            )
            if len(ways) != 2 or not all(isinstance(way, str) for way in ways):
                raise place.error("expected the names of two ways at the key 'ways'")
            values = Ratio(*(get(place, ratio, key, float) for key in Ratio._fields))
            if not sys.float_info.min <= values.min <= values.median <= values.max:
                raise place.error("expected 0 < min <= median <= max at the key 'ratio'")
            ratios[f"{name}: {ways[0]} / {ways[1]}"] = values
        machine = get(Place(path), report, "machine", str)
        return cls("".join(filter(str.isprintable, machine)), ratios)

    def row(self, comparison: Comparison) -> List[str]:
        """Cells under ``HEAD``."""
        change = self.change(comparison)
        if change is None:
            return ["-"] * len(HEAD)
        then = self.ratios[comparison.title]
        mark = "*" if change["apart"] else ""
        return [*(f"{value:.3f}" for value in then), f"{change['now_to_earlier']:.3f}{mark}"]

    def change(self, comparison: Comparison) -> Optional[Dict[str, Any]]:
        """For JSON: ``ratio`` then, ``now_to_earlier`` of the medians, and ``apart``: whether the pairs of
        the two calls, several in each, do not overlap; None for what was not measured then."""
        then, now = self.ratios.get(comparison.title), comparison.ratios
        if then is None:
            return None
        several = len(now) > 1 and then.min < then.max
        apart = several and (min(now) > then.max or max(now) < then.min)
        return {"ratio": then._asdict(), "now_to_earlier": median(now) / then.median, "apart": apart}

    def left_out(self, comparisons: Sequence[Comparison]) -> List[str]:
        """What was measured then and not now."""
        return [title for title in self.ratios if title not in {each.title for each in comparisons}]
