"""Ids that tell documents apart where one file is aligned with several."""

from dataclasses import replace
from typing import Dict, Iterable, Iterator

from ctxmt_fairseq.corpora.assembly.pairs import Lines, Part


def distinct(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, each of one ``DocumentBuilder``, with the numbers of documents of one name going on.

    OPUS aligns some files with several of the other language. Their documents would have the same ids, and
    become one where they stand behind each other.
    """
    numbers: Dict[str, int] = {}
    for part in parts:
        lines = Lines.of(part.pairs)
        if lines.documents:
            name = lines.documents[0][0]
            before = numbers.get(name, 0)
            numbers[name] = before + len(lines.documents)
            if before:
                sizes = (size for _, size in lines.documents)
                documents = tuple((f"{name}/{number}", size) for number, size in enumerate(sizes, before + 1))
                lines = replace(lines, documents=documents)
        yield Part(lines, part.account)
