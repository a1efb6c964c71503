"""Counts how long the sentences and documents of a corpus are."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
from tqdm.auto import tqdm

from ctxmt_fairseq.base.plots.charts import Point, draw_chart
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import chunks
from ctxmt_fairseq.text.languages import words_of

BATCH = 10_000  # sentences that are encoded together
PLACES = 50
TAIL = 0.999  # a plot shows this share of sentences or documents; it puts longer ones at the last place
Encode = Callable[[List[str]], List[str]]


@dataclass
class Statistics:
    """Counts of lengths; memory does not grow with the corpus.

    Attributes:
        words, subwords: by side, length -> sentences; ``subwords`` is [] without a data folder.
        documents: length in sentences -> documents.
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
        """Make JSON, with the shares of ``lengths`` above each of ``longer_than``."""
        sides = {
            language: {"empty": words[0], "words": summary(words), "longer": _longer(lengths, longer_than)}
            for language, words, lengths in zip(languages, self.words, self.lengths, strict=True)
        }
        for language, counter in zip(languages, self.subwords, strict=False):
            sides[language]["subwords"] = summary(counter)
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
        rows: List[Sequence[Any]] = [("length", *languages, "documents")]
        rows += ((length, *(each[length] for each in columns)) for length in sorted(set().union(*columns)))
        return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def measure(files: TextFiles, encode: Sequence[Encode] = ()) -> Statistics:
    """Read a corpus once; ``encode`` makes of either side's sentences their subwords, joined by spaces."""
    result = Statistics([Counter(), Counter()], [Counter() for _ in encode])
    for batch in chunks(tqdm(files.documents(), unit=" documents", disable=None), BATCH // 10):
        result.documents.update(map(len, batch))
        pairs = [pair for document in batch for pair in document]
        result.context_only += sum(not pair.current for pair in pairs)
        for side, texts in enumerate(([pair.source for pair in pairs], [pair.target for pair in pairs])):
            result.words[side].update(len(words_of(text)) for text in texts)
            if encode:
                pieces = encode[side](texts)
                result.subwords[side].update(len(one.split()) for one in pieces)
    return result


def _sorted(lengths: Counter) -> Tuple[np.ndarray, np.ndarray]:
    """Lengths in rising order, and how often each occurs."""
    return tuple(np.array(sorted(lengths.items())).T)


def _quantile(lengths: Counter, share: float) -> int:
    values, times = _sorted(lengths)
    return int(values[np.searchsorted(times.cumsum(), share * times.sum())])


def summary(lengths: Counter) -> Dict[str, float]:
    """Total, mean, median (the lower of two) and maximum of counted lengths."""
    values, times = _sorted(lengths)
    total = int(values @ times)
    return {
        "total": total,
        "mean": total / int(times.sum()),
        "median": _quantile(lengths, 0.5),
        "max": int(values[-1]),
    }


def _longer(lengths: Counter, than: Sequence[int]) -> Dict[str, float]:
    """The share of sentences that are longer."""
    values, times = _sorted(lengths)
    return {str(most): float(times[values > most].sum() / times.sum()) for most in than}


def draw_histograms(statistics: Statistics, languages: Sequence[str]) -> bytes:
    """Plot the lengths of each side's sentences, and of documents; returns the content of a PNG file."""
    across = {"sentences": "subwords" if statistics.subwords else "words", "documents": "sentences"}
    points = _counts("sentences", statistics.lengths, languages)
    points += _counts("documents", [statistics.documents], ["documents"])
    return draw_chart(points, across, logarithmic=["documents"])


def _counts(what: str, counters: Sequence[Counter], names: Sequence[str]) -> List[Point]:
    """Count each length in at most ``PLACES`` ranges; a range is called by its least length."""
    most = max(_quantile(counter, TAIL) for counter in counters)
    width = -(-(most + 1) // PLACES)
    points = []
    for counter, name in zip(counters, names, strict=True):
        lengths, times = _sorted(counter)
        counts = np.bincount(np.minimum(lengths, most) // width, weights=times)
        points += [Point(what, name, at * width, int(count)) for at, count in enumerate(counts)]
    return points
