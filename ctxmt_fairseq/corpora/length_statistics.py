"""How long the sentences and documents of a corpus are: counts, shares, a picture."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.corpora.data_folder import read_description
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import chunks
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.plots.charts import Point, chart
from ctxmt_fairseq.tables import aligned_table

BATCH = 10_000  # sentences that are encoded together
PLACES = 50
TAIL = 0.999  # the share of sentences or documents that a plot shows; longer ones are at the last place
Encode = Callable[[List[str]], List[str]]
COLUMNS = ("total", "mean", "median", "max")


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

    def table(self, languages: Sequence[str], longer_than: Sequence[int]) -> str:
        """``as_dict`` as text."""
        record = self.as_dict(languages, longer_than)
        sides = record["sides"].items()
        rows = [("sentences a document", record["sentences a document"])]
        rows += [
            (f"{x}: {unit}", side[unit])
            for x, side in sides
            for unit in ("words", "subwords")
            if unit in side
        ]
        cells = [
            [title, *(f"{row[x]:.2f}" if x == "mean" else str(row[x]) for x in COLUMNS)]
            for title, row in rows
        ]
        found = f"{record['sentences']} sentences ({record['context_only']} of them context only)"
        single = f"{record['documents of one sentence']} of one sentence"
        text = [f"{found} in {record['documents']} documents ({single})\n"]
        text.append(aligned_table([["", *COLUMNS], *cells]) + "\n")
        unit = "subwords" if self.subwords else "words"
        for language, side in sides:
            for length, share in side["longer"].items():
                text.append(f"{language}: {share:.2%} of the sentences have more than {length} {unit}")
            text.append(f"{language}: {side['empty']} empty sentences")
        return "\n".join(text)

    def histogram(self, languages: Sequence[str]) -> str:
        """Tab-separated: length, source and target sentences, and documents of as many sentences."""
        columns = [*self.lengths, self.documents]
        rows = [(length, *(column[length] for column in columns)) for length in sorted(set().union(*columns))]
        return "".join(
            "\t".join(map(str, row)) + "\n" for row in (("length", *languages, "documents"), *rows)
        )


def encoders(folder: PathLike, languages: Sequence[str]) -> List[Encode]:
    """For source and target, what a data folder's subwords make of sentences.

    Raises:
        BadInput: the folder is of other languages, or no data folder.
    """
    known = {read_description(folder)[f"{side}_lang"] for side in ("source", "target")}
    if set(languages) != known:
        expected, found = (" and ".join(sorted(names)) for names in (languages, known))
        raise BadInput(f"expected {expected}, found {found}", folder)
    return [Subwords.load(folder, language).encode_all for language in languages]


def measure(files: TextFiles, encode: Sequence[Encode] = ()) -> Statistics:
    """Read a corpus once.

    Args:
        encode: for source and target, from sentences to their subwords, joined by spaces.
    """
    result = Statistics([Counter(), Counter()], [Counter() for _ in encode])
    for batch in chunks(files.documents(), BATCH // 10):
        result.documents.update(map(len, batch))
        pairs = [pair for document in batch for pair in document]
        result.context_only += sum(not pair.current for pair in pairs)
        for side, texts in enumerate(([pair.source for pair in pairs], [pair.target for pair in pairs])):
            result.words[side].update(len(text.split()) for text in texts)
            if encode:
                pieces = encode[side](texts)
                result.subwords[side].update(len(one.split()) for one in pieces)
    return result


def _sorted(lengths: Counter) -> Tuple[np.ndarray, np.ndarray]:
    """Lengths in rising order, and how often each occurs."""
    found = np.array(sorted(lengths.items()))
    return found[:, 0], found[:, 1]


def _quantile(lengths: Counter, share: float) -> int:
    values, times = _sorted(lengths)
    return int(values[np.searchsorted(times.cumsum(), share * times.sum())])


def summary(lengths: Counter) -> Dict[str, float]:
    """Total, mean, median (the lower of two) and greatest of lengths that are counted."""
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


def picture(statistics: Statistics, languages: Sequence[str]) -> bytes:
    """Lengths of sentences on either side, and of documents, as the content of a PNG file."""
    across = {"sentences": "subwords" if statistics.subwords else "words", "documents": "sentences"}
    points = _counts("sentences", statistics.lengths, languages)
    points += _counts("documents", [statistics.documents], ["documents"])
    return chart(points, across, logarithmic=["documents"])


def _counts(what: str, counters: Sequence[Counter], names: Sequence[str]) -> List[Point]:
    """How many there are of each length, by at most ``PLACES`` ranges of lengths, called by the least."""
    most = max(_quantile(counter, TAIL) for counter in counters)
    width = -(-(most + 1) // PLACES)
    points = []
    for counter, name in zip(counters, names, strict=True):
        lengths, times = _sorted(counter)
        counts = np.bincount(np.minimum(lengths, most) // width, weights=times)
        points += [Point(what, name, at * width, int(count)) for at, count in enumerate(counts)]
    return points
