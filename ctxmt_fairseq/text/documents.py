"""Reads document ids, and keeps document boundaries as arrays. This module imports no torch.

A corpus is the files ``SPLIT.SRC``, ``SPLIT.TGT`` and ``SPLIT.docids`` in UTF-8, with a line of each for
every sentence. A document is a maximal span of equal ids, so an id may return without joining two documents.
"""

import itertools
import logging
from dataclasses import dataclass
from typing import Iterator, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, decode_line, equal_lines, open_text

logger = logging.getLogger(__name__)


def document_id(text: str) -> str:
    """A document's id without the white space, or byte order mark, that a text has around it."""
    return text.strip().strip("\ufeff").strip()


def id_spans(path: PathLike) -> Iterator[Tuple[str, int]]:
    """Yield the id and the number of lines of each document, from a file with one id per line. All ids are
    read here.

    An id that returns after another one starts a new document; a warning names the first such id.
    """
    seen: Set[str] = set()
    returned = False
    count = start = 0
    previous = None
    with open_text(path) as stream:
        for raw, repeated in equal_lines(stream, path):
            first, count = count + 1, count + repeated
            name = document_id(decode_line(raw, path, first))
            if not name:
                raise BadInput("expected a document id, found a blank line", path, first)
            if name == previous:  # a span came in parts, or there is other white space around the id
                continue
            if previous is not None:
                yield previous, first - 1 - start
            if name in seen and not returned:
                returned = True
                logger.warning(
                    "%s:%d: document id %r returns after another document; it is read as a new document",
                    path, first, name,
                )  # fmt: skip
            seen.add(name)
            start, previous = first - 1, name
    if previous is not None:
        yield previous, count - start


def iterate_ids(path: PathLike) -> Iterator[str]:
    """Yield the document id of every line; see ``id_spans``."""
    for name, length in id_spans(path):
        yield from itertools.repeat(name, length)


@dataclass(frozen=True)
class Documents:
    """Document d is the sentences starts[d] .. starts[d + 1] - 1; starts (D + 1,) are int64, increasing."""

    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return int(self.starts[-1])

    def bounds(self, indices: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """The first sentence of each sentence's document, and one past the last, shaped like ``indices``."""
        indices = np.asarray(indices)
        # Search only among documents between the first and the last sentence: often they are few.
        least, most = indices.min(initial=self.sentences), indices.max(initial=0)
        first = np.searchsorted(self.starts, least, side="right") - 1
        starts = self.starts[first : np.searchsorted(self.starts, most, side="right") + 1]
        document = np.searchsorted(starts, indices, side="right") - 1
        return starts[document], starts[document + 1]

    @classmethod
    def from_ids(cls, ids: Sequence[str]) -> "Documents":
        """Find the boundaries from one id per sentence; the ids may be as in files (``document_id``)."""
        return cls.from_lengths([len(list(span)) for _, span in itertools.groupby(map(document_id, ids))])

    @classmethod
    def from_lengths(cls, lengths: Union[Sequence[int], np.ndarray]) -> "Documents":
        """Find the boundaries from the number of sentences of each document."""
        return cls(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64))

    @classmethod
    def read(cls, path: PathLike, expected: Optional[int] = None) -> "Documents":
        """Read boundaries from a file with an id, any non-empty string, per line (``expected``, if given)."""
        documents = cls.from_lengths(np.fromiter((length for _, length in id_spans(path)), np.int64))
        if expected is not None and documents.sentences != expected:
            found = documents.sentences
            raise BadInput(f"expected {expected} document ids, one per sentence, found {found}", path)
        return documents
