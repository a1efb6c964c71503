"""Annotates text for the files that ``text.annotation`` reads."""

import functools
import itertools
from typing import Iterator, List, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.linguistics.analysers import analyser
from ctxmt_fairseq.corpora.workers import chunks, in_order
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

LONGEST = 100_000  # characters of a line: far more than any sentence, and its analysis still fits into memory
_BLOCK = 1_000  # sentences that a worker gets at a time


def annotated_text(
    path: PathLike, language: str, model: Optional[str] = None, workers: int = 1
) -> Iterator[List[AnnotatedWord]]:
    """Annotate the words of every line, without blanks at its ends; few lines are in memory at a time.

    Args:
        language, model: see ``analyser``.
        workers: processes; each loads the tool.
    """
    blocks = in_order(functools.partial(_annotated, language, model), _blocks(path), workers)
    for number, (sentence, words) in enumerate(itertools.chain.from_iterable(blocks), 1):
        if not covers(words, sentence):
            tool = analyser(language, model).name
            raise BadInput(f"{tool} gives other words than the line has; leave the line out", path, number)
        yield words


def covers(words: Sequence[AnnotatedWord], sentence: str) -> bool:
    """Whether the sentence has the words at their places, in order, and only blanks between them."""
    end = 0
    for word in words:
        if not end <= word.start < word.end <= len(sentence) or sentence[end : word.start].strip():
            return False
        if word.text != sentence[word.start : word.end]:
            return False
        end = word.end
    return not sentence[end:].strip()


def _blocks(path: PathLike) -> Iterator[List[str]]:
    for block in chunks(enumerate(iterate_lines(path), 1), _BLOCK):
        for number, line in block:
            if len(line) > LONGEST:
                raise BadInput(f"the line has more than {LONGEST:,} characters", path, number)
        yield [line.strip() for _, line in block]


def _annotated(language: str, model: Optional[str], sentences: List[str]) -> List[tuple]:
    return list(zip(sentences, analyser(language, model).analyse(sentences), strict=True))
