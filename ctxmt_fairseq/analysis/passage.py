"""The sentence that an analysis looks at, in its document."""

from dataclasses import dataclass, field
from typing import List, Mapping, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.input_documents import read_blank_line_documents
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.text_lines import PathLike


@dataclass(frozen=True)
class Passage:
    """Source sentences of a document, the index of the current one, and its metadata: texts by field."""

    sentences: List[str]
    current: int
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def documents(self) -> Documents:
        """The boundaries of this one document."""
        return Documents.from_lengths([len(self.sentences)])


def given_passage(sentence: str, context: Sequence[str] = ()) -> Passage:
    """The passage of a sentence with its context, farthest sentence first."""
    if not sentence.strip():
        raise BadInput("the sentence is empty")
    return Passage([*context, sentence], len(context))


def read_passage(path: PathLike, line: Optional[int] = None) -> Passage:
    """The document around a line (from 1; default: the last) of a file with blank lines between documents."""
    text = read_blank_line_documents(path)
    if not text.sentences:
        raise BadInput("the file has no sentence", path)
    number = len(text.sentences) - 1
    if line is not None:
        (found,) = np.nonzero(text.output_lines == line - 1)
        if not len(found):
            raise BadInput("this line has no sentence; choose one that has", path, line)
        number = int(found[0])
    start, end = (int(bound) for bound in text.documents.bounds(np.array(number)))
    return Passage(text.sentences[start:end], number - start)
