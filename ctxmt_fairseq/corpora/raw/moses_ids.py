"""The .ids file of OPUS' Moses format: which sentences each line of the two text files was made of."""

import re
from pathlib import Path
from typing import Iterator, NamedTuple, Tuple, Union

from ctxmt_fairseq.corpora.raw.opus_links import exchanged
from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.errors import BadInput

_NUMBER = re.compile(r"(.*?)(\d{1,18})")


class Origin(NamedTuple):
    """Where a line comes from.

    Attributes:
        documents: names of the source and the target document.
        sentences: ids of the sentences in them.
    """

    documents: Tuple[str, str]
    sentences: Tuple[Tuple[str, ...], Tuple[str, ...]]


def read_origins(path: Union[str, Path], source_lang: str, target_lang: str) -> Iterator[Origin]:
    """The origin of every line.

    OPUS orders the languages by alphabet: where the target language comes first, the sides are exchanged.

    Raises:
        BadInput: as ``iterate_lines``; a line that is not DOCUMENT, DOCUMENT, numbers, numbers with tabs
            between them; or documents of other languages.
    """
    for number, line in enumerate(iterate_lines(path), 1):
        columns = line.split("\t")
        if len(columns) != 4 or not all(map(str.strip, columns)):
            raise BadInput("expected two documents and the numbers of their sentences", path, number)
        first, second, *sides = columns
        swap = exchanged((first, second), (source_lang, target_lang))
        if swap is None:
            message = f"expected documents of {source_lang} and {target_lang}, found {first} and {second}"
            raise BadInput(message, path, number)
        here, there = (tuple(side.split()) for side in sides)
        yield Origin((second, first), (there, here)) if swap else Origin((first, second), (here, there))


def follows(before: str, after: str) -> bool:
    """Whether a sentence comes right after another by their ids: 5 and 6, s1.5 and s1.6.

    What cannot be known, such as 1.7 and 2.1, does not follow.
    """
    first, second = _NUMBER.fullmatch(before), _NUMBER.fullmatch(after)
    if first is None or second is None:
        return False
    return first[1] == second[1] and int(first[2]) + 1 == int(second[2])
