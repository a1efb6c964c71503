"""The corpora that Voita et al. released: context, source and target (2018), four sentences a line (2019)."""

from pathlib import Path
from typing import Iterator, Union

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.raw.line_files import lines_together
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
END = "_eos"


def sentences_with_context(context: PathLike, source: PathLike, target: PathLike) -> Iterator[Part]:
    """2018: a line of ``source`` and ``target`` with that of ``context``, the previous source sentence.

    A document is these two lines; the first, which has no translation, serves as context only. Its id is the
    line's number.

    Raises:
        BadInput: files of different lengths.
    """
    for number, (before, first, second) in enumerate(lines_together(context, source, target), 1):
        builder = DocumentBuilder(str(number), Account())
        if before.strip():
            builder.add_context(before, "")
        builder.add(first, second)
        yield builder.part()


def joined_sentences(source: PathLike, target: PathLike, current: str) -> Iterator[Part]:
    """2019: a line is a document, whose sentences are joined by ``_eos``; its id is the line's number.

    Args:
        current: ``all`` sentences are translated, or the ``last``, and the others serve as context only.

    Raises:
        BadInput: files, or lines, that do not have as many sentences on both sides.
    """
    for number, lines in enumerate(lines_together(source, target), 1):
        sides = [[part.strip() for part in f" {line} ".split(f" {END} ")] for line in lines]
        if len(sides[0]) != len(sides[1]):
            expected = f"expected {len(sides[0])} sentences as in {source}"
            raise BadInput(f"{expected}, found {len(sides[1])}", target, number)
        builder = DocumentBuilder(str(number), Account())
        for place, (first, second) in enumerate(zip(*sides, strict=True), 1):
            if current == "all" or place == len(sides[0]):
                builder.add(first, second)
            else:
                builder.add_context(first, second)
        yield builder.part()
