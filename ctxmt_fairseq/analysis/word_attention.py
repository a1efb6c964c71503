"""How much words attend to the context, by the word, the length of the sentence and the place in it (Voita et
al. 2018, table 2, figures 2 and 3)."""

from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional

import numpy as np
import pandas as pd

from ctxmt_fairseq.analysis.text_attention import AttendedSentence
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.tables import records_table
from ctxmt_fairseq.evaluation.probe.word_report import bare

SHOWN = 10  # words in a table


@dataclass(frozen=True)
class WordAttention:
    """The words of a text, without punctuation; positions count in sentences of this length alone (None: in
    all). A row is a word: its sentence, its ``position`` from 1, the ``length`` of its sentence and of its
    ``context`` in words, and its useful mass."""

    words: pd.DataFrame
    length: Optional[int] = None

    @property
    def sentences(self) -> int:
        return self.words.sentence.nunique()

    def by(self, name: str, least: int = 1) -> pd.DataFrame:
        """n, and the mean useful mass and position, by word, later_word, position, length or context. By
        length and context these are means over sentences, each of which is the mean over its words."""
        words = self.words
        if name == "later_word":
            words = words[words.position > 1].rename(columns={"word": name})
        elif name == "position" and self.length:
            words = words[words.length == self.length]
        elif name in ("length", "context"):
            words = words.groupby(["sentence", name], as_index=False)[["useful", "position"]].mean()
        found = words.assign(place=words.position).groupby(name, as_index=False).agg(
            n=("useful", "size"), useful=("useful", "mean"), position=("place", "mean")
        )  # fmt: skip
        return found[found.n >= least]

    def top(self, name: str, least: int) -> List[Dict[str, Any]]:
        """The words that occur at least ``least`` times, the highest mean first."""
        found = self.by(name, least).rename(columns={name: "word"})
        return found.sort_values(["useful", "word"], ascending=[False, True]).to_dict("records")

    def table(self, least: int) -> str:
        """Table 2."""
        mean = self.words.useful.mean()
        parts = [f"{self.sentences} sentences with context; useful attention, mean over words {mean:.4f}"]
        for title, name in (("word", "word"), ("word, not the first", "later_word")):
            head = f"{title} ({least} times or more)"
            columns = {head: "{word}", "n": "{n}", "useful": "{useful:.4f}", "position": "{position:.1f}"}
            parts.append(records_table(self.top(name, least)[:SHOWN], columns))
        return "\n\n".join(parts)

    def points(self, least: int) -> Dict[str, List[Point]]:
        """Figures 2 and 3 by their horizontal axis: lengths and positions with at least ``least`` values."""

        def line(measure: str, name: str, key: str) -> List[Point]:
            rows = self.by(key, least)[[key, "useful"]].itertuples(index=False)
            return [Point(measure, name, place, value) for place, value in rows]

        of = "" if self.length is None else f", sentences of {self.length} words"
        mean = "useful attention, mean over sentences"
        lengths = [*line(mean, "sentence", "length"), *line(mean, "context", "context")]
        positions = line("useful attention", "useful attention", "position")
        return {"words of the sentence or its context": lengths, f"position of the word{of}": positions}

    def as_dict(self, least: int) -> Dict[str, Any]:
        """For JSON: the words that occur at least ``least`` times, and all lengths and positions."""
        lengths = {"source_lengths": "length", "context_lengths": "context", "positions": "position"}
        found = {key: self.by(name)[[name, "n", "useful"]] for key, name in lengths.items()}
        found = {key: each.rename(columns={"context": "length"}) for key, each in found.items()}
        return {
            "sentences": self.sentences,
            "mean": float(self.words.useful.mean()),
            "words": self.top("word", least),
            "later_words": self.top("later_word", least),
            **{key: each.to_dict("records") for key, each in found.items()},
        }


def word_attention(sentences: Iterable[AttendedSentence], length: Optional[int] = None) -> WordAttention:
    """Collect the words of sentences, without those sentences whose context has no words."""
    rows = []
    for number, sentence in enumerate(sentences):
        chosen = np.flatnonzero(sentence.words.lexical_words).tolist()
        if sentence.context_words:
            useful, lengths = sentence.useful.tolist(), (len(chosen), sentence.context_words)
            rows += [(number, bare(sentence.words.words[place]), position, useful[place], *lengths)
                     for position, place in enumerate(chosen, 1)]  # fmt: skip
    columns = ["sentence", "word", "position", "useful", "length", "context"]
    return WordAttention(pd.DataFrame(rows, columns=columns), length)
