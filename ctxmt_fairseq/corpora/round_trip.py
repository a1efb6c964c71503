"""Does text come out of the subwords as it went in? What does not is out of reach for every model."""

import itertools
import logging
from dataclasses import dataclass
from typing import Iterable, List, Tuple

from ctxmt_fairseq.corpora.subwords import Subwords

logger = logging.getLogger(__name__)
_LINES = 20_000  # of a split, its first, are tried
_SHOWN = 3
_SHARE = 0.001  # of lines; more are a warning


@dataclass(frozen=True)
class RoundTrip:
    """The lines of a side that were tried, and those that came out otherwise: number, text, what came out."""

    lines: int
    changed: List[Tuple[int, str, str]]

    def as_dict(self) -> dict:
        return {"lines": self.lines, "changed": len(self.changed)}

    def warn(self, name: object) -> bool:
        """Say which lines no model can get right, if there are many; returns whether there are."""
        many = len(self.changed) > _SHARE * self.lines
        if many:
            shown = "; ".join(
                f"line {number}: {text!r} -> {out!r}" for number, text, out in self.changed[:_SHOWN]
            )
            logger.warning(
                "%s: %d of %d lines come out of the subwords otherwise, so no model can translate them right "
                "(--normalization, --moses or a given model may be the cause): %s",
                *(name, len(self.changed), self.lines, shown),
            )
        return many


def round_trip(text: Iterable[str], pieces: Iterable[str], subwords: Subwords) -> RoundTrip:
    """Compare the first sentences, as they were written, with what becomes of their pieces."""
    number, changed = 0, []
    for number, (line, cut) in enumerate(itertools.islice(zip(text, pieces, strict=False), _LINES), 1):
        line, out = subwords.steps.kept(line), subwords.decode(cut)
        if out != line:
            changed.append((number, line, out))
    return RoundTrip(number, changed)
