"""Cuts text into sentences, by sentencex (extra ``files``)."""

import re
from typing import Any, Callable, List

from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.text.languages import primary


def sentence_cutter(language: str) -> Callable[[str], List[str]]:
    """From a text to its sentences with the blanks behind them, which together are the text. What has no
    letter and no digit belongs to a sentence beside it; a text without any has no sentence."""
    sentencex = import_of_extra("sentencex", "files", "to tell sentences needs sentencex")

    def cut(text: str) -> List[str]:
        found: List[str] = []
        at = 0
        for each in _segments(sentencex, primary(language), re.sub(r"\s", " ", text)):
            at, piece = at + len(each), text[at : at + len(each)]
            if found and not (_says_something(piece) and _says_something(found[-1])):
                found[-1] += piece
            else:
                found.append(piece)
        return found if _says_something(text) else []

    return cut


def _segments(sentencex: Any, language: str, text: str) -> List[str]:
    """The sentences, which together are the text; where sentencex fails, the whole text."""
    try:
        pieces: List[str] = sentencex.segment(language, text)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust, which is no Exception
            raise
        return [text]
    return pieces if "".join(pieces) == text else [text]


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))
