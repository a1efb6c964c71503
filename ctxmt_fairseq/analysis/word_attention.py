"""Which words attend to the context, in sentences of which length and at which place (Voita et al. 2018,
table 2, figures 2 and 3)."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

import numpy as np

from ctxmt_fairseq.analysis.text_attention import AttendedSentence
from ctxmt_fairseq.charts import Panel, Point
from ctxmt_fairseq.evaluation.probe.word_report import bare
from ctxmt_fairseq.tables import aligned_table


class Sum(NamedTuple):
    """Of n values, with the sum of their positions."""

    n: int = 0
    useful: float = 0.0
    position: int = 0

    def plus(self, useful: float, position: int = 0) -> "Sum":
        return Sum(self.n + 1, self.useful + useful, self.position + position)


@dataclass
class WordAttention:
    """Sums of useful mass over a text: each entry is (what it is of) -> ``Sum``.

    A word is lower-cased, without punctuation around it; positions, from 1, and lengths count words without
    punctuation. The values of a length are the means over the words of sentences.

    Attributes:
        words, later_words: at all positions; at positions after the first.
        source_lengths, context_lengths: by the words of the sentence, and of its context.
        positions: of sentences of ``length`` words, if that is given.
    """

    length: Optional[int] = None
    sentences: int = 0
    words: Dict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))
    later_words: Dict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))
    source_lengths: Dict[int, Sum] = field(default_factory=lambda: defaultdict(Sum))
    context_lengths: Dict[int, Sum] = field(default_factory=lambda: defaultdict(Sum))
    positions: Dict[int, Sum] = field(default_factory=lambda: defaultdict(Sum))

    def add(self, sentence: AttendedSentence) -> None:
        """Count a sentence; one of punctuation alone, or whose context is that, counts for nothing."""
        chosen = np.flatnonzero(sentence.words.lexical_words)
        if not len(chosen) or not sentence.context_words:
            return
        self.sentences += 1
        useful = sentence.useful
        for position, place in enumerate(chosen.tolist(), 1):
            word, value = bare(sentence.words.words[place]), float(useful[place])
            self.words[word] = self.words[word].plus(value, position)
            if position > 1:
                self.later_words[word] = self.later_words[word].plus(value, position)
            if self.length in (None, len(chosen)):
                self.positions[position] = self.positions[position].plus(value)
        mean = float(useful[chosen].mean())
        for lengths, length in (
            (self.source_lengths, len(chosen)),
            (self.context_lengths, sentence.context_words),
        ):
            lengths[length] = lengths[length].plus(mean)

    @property
    def mean(self) -> float:
        """Over all words."""
        return sum(each.useful for each in self.words.values()) / sum(each.n for each in self.words.values())

    def top(self, words: Dict[str, Sum], count: int, least: int) -> List[Tuple[str, Sum]]:
        """The words with the highest mean, that occur at least so often."""
        known = [(word, each) for word, each in words.items() if each.n >= least]
        return sorted(known, key=lambda row: (-row[1].useful / row[1].n, row[0]))[:count]

    def table(self, count: int, least: int) -> str:
        """Table 2."""
        parts = [
            f"{self.sentences} sentences with context; useful attention, mean over words {self.mean:.4f}"
        ]
        for title, words in (("word", self.words), ("word, not the first", self.later_words)):
            rows = [
                [word, str(each.n), f"{each.useful / each.n:.4f}", f"{each.position / each.n:.1f}"]
                for word, each in self.top(words, count, least)
            ]
            parts.append(
                aligned_table([[f"{title} ({least} times or more)", "n", "useful", "position"], *rows])
            )
        return "\n\n".join(parts)

    def panels(self, least: int) -> Dict[str, Panel]:
        """Figures 2 and 3 by what is drawn across: lengths and positions with at least so many values."""
        source, context = (
            {
                length: Point(each.useful / each.n)
                for length, each in sorted(lengths.items())
                if each.n >= least
            }
            for lengths in (self.source_lengths, self.context_lengths)
        )
        positions = {
            place: Point(each.useful / each.n)
            for place, each in sorted(self.positions.items())
            if each.n >= least
        }
        of = "" if self.length is None else f", sentences of {self.length} words"
        return {
            "words of the sentence or its context": Panel(
                "useful attention, mean over sentences", {"sentence": source, "context": context}
            ),
            f"position of the word{of}": Panel("useful attention", {"useful attention": positions}),
        }

    def as_dict(self, least: int) -> Dict[str, Any]:
        """For JSON: all words that occur often enough, all lengths and positions."""
        return {
            "sentences": self.sentences,
            "mean": self.mean,
            "words": _word_records(self.top(self.words, len(self.words), least)),
            "later_words": _word_records(self.top(self.later_words, len(self.later_words), least)),
            "source_lengths": _records("length", self.source_lengths),
            "context_lengths": _records("length", self.context_lengths),
            "positions": _records("position", self.positions),
        }


def word_attention(sentences: Iterable[AttendedSentence], length: Optional[int] = None) -> WordAttention:
    """Count all sentences."""
    found = WordAttention(length)
    for sentence in sentences:
        found.add(sentence)
    return found


def _word_records(rows: List[Tuple[str, Sum]]) -> List[Dict[str, Any]]:
    return [
        {"word": word, "n": each.n, "useful": each.useful / each.n, "position": each.position / each.n}
        for word, each in rows
    ]


def _records(name: str, sums: Dict[int, Sum]) -> List[Dict[str, Any]]:
    return [{name: key, "n": each.n, "useful": each.useful / each.n} for key, each in sorted(sums.items())]
