"""What a corpus is like: documents, words, subwords, and how long sentences and documents are."""

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Sequence

from ctxmt_fairseq.corpora.text_rows import Row, TextFiles
from ctxmt_fairseq.errors import BadInput

BATCH = 10_000  # sentences that are encoded together
Encode = Callable[[List[str]], List[str]]


@dataclass
class Statistics:
    """Counts of lengths; memory does not grow with the corpus.

    Attributes:
        words, subwords: for source and target, length -> sentences; ``subwords`` is [] without a data folder.
        documents: length in sentences -> documents.
        context_only: sentences that are marked 0.
    """

    words: List[Counter]
    subwords: List[Counter]
    documents: Counter = field(default_factory=Counter)
    context_only: int = 0

    @property
    def lengths(self) -> List[Counter]:
        """Of source and target, in subwords if these are known."""
        return self.subwords or self.words

    def as_dict(self, languages: Sequence[str], longer_than: Sequence[int]) -> Dict[str, Any]:
        """For JSON; shares above the lengths ``longer_than`` are of ``lengths``."""
        sides: Dict[str, Any] = {}
        for number, language in enumerate(languages):
            sides[language] = {
                "empty": self.words[number][0],
                "words": summary(self.words[number]),
                **({"subwords": summary(self.subwords[number])} if self.subwords else {}),
                "longer": {str(length): share_above(self.lengths[number], length) for length in longer_than},
            }
        return {
            "sentences": self.words[0].total(),
            "context_only": self.context_only,
            "documents": self.documents.total(),
            "sentences a document": summary(self.documents),
            "documents of one sentence": self.documents[1],
            "sides": sides,
        }

    def histogram(self, languages: Sequence[str]) -> str:
        """Tab-separated: length, source and target sentences, and documents of as many sentences."""
        columns = [*self.lengths, self.documents]
        rows = [["length", *languages, "documents"]]
        for length in sorted(set(itertools.chain(*columns))):
            rows.append([str(length), *(str(column[length]) for column in columns)])
        return "".join("\t".join(row) + "\n" for row in rows)


def measure(files: TextFiles, encode: Sequence[Encode] = ()) -> Statistics:
    """Read a corpus once.

    Args:
        encode: for source and target, from sentences to their subwords, joined by spaces.

    Raises:
        BadInput: as ``TextFiles.rows``.
    """
    result = Statistics([Counter(), Counter()], [Counter() for _ in encode])
    document, size = None, 0
    for batch in _batches(files.rows()):
        sides = [[row.source for row in batch], [row.target for row in batch]]
        for counter, side in zip(result.words, sides, strict=True):
            counter.update(len(sentence.split()) for sentence in side)
        for counter, side, pieces in zip(result.subwords, sides if encode else (), encode, strict=True):
            counter.update(len(sentence.split()) for sentence in pieces(side))
        for row in batch:
            result.context_only += row.current == "0"
            if row.document != document:
                result.documents[size] += bool(size)
                document, size = row.document, 0
            size += 1
    if not size:
        raise BadInput("expected text, found no line", files.prefix)
    result.documents[size] += 1
    result.documents = +result.documents
    return result


def _batches(rows: Iterator[Row]) -> Iterator[List[Row]]:
    while batch := list(itertools.islice(rows, BATCH)):
        yield batch


def summary(lengths: Counter) -> Dict[str, float]:
    """Total, mean, median (the lower of two) and greatest of lengths that are counted."""
    number, total, passed = lengths.total(), sum(length * times for length, times in lengths.items()), 0
    for median in sorted(lengths):
        passed += lengths[median]
        if 2 * passed >= number:
            break
    return {"total": total, "mean": total / number, "median": median, "max": max(lengths)}


def share_above(lengths: Counter, most: int) -> float:
    """The share of sentences that are longer."""
    return sum(times for length, times in lengths.items() if length > most) / lengths.total()
