"""How much words attend to the context, by the word, the length of the sentence and the place in it (Voita et
al. 2018, table 2, figures 2 and 3)."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.text_attention import AttendedSentence
from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.tables import records_table
from ctxmt_fairseq.corpora.linguistics.words import bare

SHOWN = 10  # words in a table
Row = Tuple[Any, Sequence[float]]  # a word, length or position; useful mass and position
Means = Dict[Any, Tuple[int, float, float]]  # n, and the means of both


class Word(NamedTuple):
    """A word that is no punctuation: its sentence, its ``position`` there from 1, its useful mass, and the
    ``length`` of its sentence and of the ``context`` in words."""

    sentence: int
    word: str
    position: int
    useful: float
    length: int
    context: int


@dataclass(frozen=True)
class WordAttention:
    """The words of a text; positions count in sentences of this length alone (None: in all)."""

    words: List[Word]
    length: Optional[int] = None

    @property
    def sentences(self) -> int:
        return len({each.sentence for each in self.words})

    @property
    def mean(self) -> float:
        return fmean(each.useful for each in self.words)

    def by(self, name: str, least: int = 1) -> Means:
        """The means by word, later_word, position, length or context, ascending. By length and context these
        are means over sentences, each of which is the mean over its words."""
        words = self.words
        if name == "later_word":
            name, words = "word", [each for each in words if each.position > 1]
        elif name == "position" and self.length:
            words = [each for each in words if each.length == self.length]
        rows: List[Row] = [(getattr(each, name), (each.useful, each.position)) for each in words]
        if name in ("length", "context"):
            inside = _means(((row[0], each.sentence), row[1]) for row, each in zip(rows, words, strict=True))
            rows = [(value, means) for (value, _), (_, *means) in inside.items()]
        return {value: means for value, means in _means(rows).items() if means[0] >= least}

    def top(self, name: str, least: int) -> List[Dict[str, Any]]:
        """The words that occur at least ``least`` times, the highest mean first."""
        found = sorted(self.by(name, least).items(), key=lambda item: -item[1][1])
        return [{"word": word, "n": n, "useful": mean, "position": at} for word, (n, mean, at) in found]

    def table(self, least: int) -> str:
        """Table 2."""
        mean = f"useful attention, mean over words {self.mean:.4f}"
        parts = [f"{self.sentences} sentences with context; {mean}"]
        for title, name in (("word", "word"), ("word, not the first", "later_word")):
            head = f"{title} ({least} times or more)"
            columns = {head: "{word}", "n": "{n}", "useful": "{useful:.4f}", "position": "{position:.1f}"}
            parts.append(records_table(self.top(name, least)[:SHOWN], columns))
        return "\n\n".join(parts)

    def points(self, least: int) -> Dict[str, List[Point]]:
        """Figures 2 and 3 by their horizontal axis: lengths and positions with at least ``least`` values."""

        def line(measure: str, name: str, key: str) -> List[Point]:
            return [Point(measure, name, at, mean) for at, (_, mean, _) in self.by(key, least).items()]

        of = "" if self.length is None else f", sentences of {self.length} words"
        mean = "useful attention, mean over sentences"
        lengths = [*line(mean, "sentence", "length"), *line(mean, "context", "context")]
        positions = line("useful attention", "useful attention", "position")
        return {"words of the sentence or its context": lengths, f"position of the word{of}": positions}

    def as_dict(self, least: int) -> Dict[str, Any]:
        """For JSON: the words that occur at least ``least`` times, and all lengths and positions."""

        def records(name: str, called: str) -> List[Dict[str, Any]]:
            return [{called: at, "n": n, "useful": mean} for at, (n, mean, _) in self.by(name).items()]

        return {
            "sentences": self.sentences,
            "mean": self.mean,
            "words": self.top("word", least),
            "later_words": self.top("later_word", least),
            "source_lengths": records("length", "length"),
            "context_lengths": records("context", "length"),
            "positions": records("position", "position"),
        }


def _means(rows: Iterable[Row]) -> Means:
    found = sorted(grouped(rows).items())
    return {value: (len(each), *np.mean(each, axis=0).tolist()) for value, each in found}


def word_attention(sentences: Iterable[AttendedSentence], length: Optional[int] = None) -> WordAttention:
    """Collect the words of sentences, without those sentences whose context has no words."""
    words = []
    for number, sentence in enumerate(sentences):
        chosen = np.flatnonzero(sentence.words.lexical_words).tolist()
        if sentence.context_words:
            useful, lengths = sentence.useful.tolist(), (len(chosen), sentence.context_words)
            words += [Word(number, bare(sentence.words.words[place]), position, useful[place], *lengths)
                      for position, place in enumerate(chosen, 1)]  # fmt: skip
    return WordAttention(words, length)
