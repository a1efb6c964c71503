"""Cuts text into sentences, by sentencex (extra ``files``)."""

from typing import Callable, List

from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.text.languages import primary


def sentence_cutter(language: str) -> Callable[[str], List[str]]:
    """From a text to its sentences with the blanks behind them, which together are the text. What has no
    letter and no digit belongs to a sentence beside it; a text without any has no sentence."""
    sentencex = import_of_extra("sentencex", "files", "to tell sentences needs sentencex")

    def cut(text: str) -> List[str]:
        found: List[str] = []
        pieces = sentencex.segment(primary(language), text)
        for piece in pieces if "".join(pieces) == text else [text]:
            if found and not (_says_something(piece) and _says_something(found[-1])):
                found[-1] += piece
            else:
                found.append(piece)
        return found if _says_something(text) else []

    return cut


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))
