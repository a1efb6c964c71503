"""Selects the examples in which context helps most, as Mąka et al. do (2025, You Are What You Train): by the
largest P-CXMI in a sentence (their MaxPCXMI, of subwords; here ``max-cxmi``, of words), or by that of all."""

import math
from array import array
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Dict, Optional

import numpy as np

from ctxmt_fairseq.base.tables import aligned_table, remark
from ctxmt_fairseq.evaluation.probe.word_report import SentenceWords


def largest(sentence: SentenceWords) -> float:
    """The bits of the word that gains most."""
    return float(sentence.words.values.max())


def mean(sentence: SentenceWords) -> float:
    """The bits of a word, ``</s>`` included, as CXMI counts them."""
    return (float(sentence.words.values.sum()) + sentence.words.end) / sentence.size


def largest_tagged(sentence: SentenceWords) -> float:
    """The bits of the tagged word that gains most; -inf: no word has a tag."""
    tagged = [bool(names) for names in sentence.tags or ()]
    return float(sentence.words.values[tagged].max(initial=-np.inf)) if tagged else -np.inf


CRITERIA: Dict[str, Callable[[SentenceWords], float]] = {
    "max-cxmi": largest, "mean-cxmi": mean, "tag": largest_tagged,
}  # fmt: skip


NOTHING = 1e-3  # bits


class Scores:
    """Keeps 4 bytes for each of n lines, from which any selection by one of ``CRITERIA`` can be made."""

    def __init__(self, by: str):
        self.by, self._score = by, CRITERIA[by]
        self._scores = array("f")
        self.sentences, self.words, self.bits, self.unplaced = 0, 0, 0.0, 0

    def add(self, sentence: Optional[SentenceWords]) -> None:
        """Score the next line; None: it is not translated."""
        score = -np.inf
        if sentence is not None:
            score = self._score(sentence) if sentence.words.words else score
            self.sentences += 1
            self.unplaced += self.by == "tag" and sentence.tags is None
            self.words += sentence.size
            self.bits += float(sentence.words.values.sum()) + sentence.words.end
        self._scores.append(score)

    def select(self, count: int) -> "Selection":
        """The ``count`` lines with the highest scores, the first of equal ones; fewer if others have none."""
        scores = np.frombuffer(self._scores, np.float32)
        best = np.argsort(-scores, kind="stable")[:count]
        chosen = np.zeros(len(scores), bool)
        chosen[best[scores[best] > -np.inf]] = True
        nats = math.log(2) * self.bits / max(self.sentences, 1)
        cxmi = self.bits / max(self.words, 1), nats
        return Selection(self.by, count, scores, chosen, *cxmi, self.unplaced)


@dataclass(frozen=True)
class Selection:
    """Lines of a text, up to as many as were ``asked`` for: ``scores`` (n,) float32 of every line in bits,
    -inf where it cannot be selected; ``chosen`` (n,) bool; the whole text's CXMI, per word and as Fernandes
    et al. define it; and in how many lines nobody knows which words the tags are of."""

    by: str
    asked: int
    scores: np.ndarray
    chosen: np.ndarray
    cxmi: float
    nats_per_sentence: float
    unplaced: int = 0

    def write(self, stream: BinaryIO) -> None:
        """Write 1 for each chosen line and 0 for the others, as ``train.current`` has them."""
        stream.write(b"".join(b"1\n" if line else b"0\n" for line in self.chosen.tolist()))

    @property
    def known(self) -> np.ndarray:
        """The scores of all lines that could be selected."""
        return self.scores[self.scores > -np.inf]

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: counts, and the scores of all lines that could be selected beside those that were."""
        rows = {
            name: {
                "lines": len(scores),
                "mean_bits": float(scores.mean(dtype=np.float64)) if len(scores) else None,
                "least_bits": float(scores.min()) if len(scores) else None,
            }
            for name, scores in (("all", self.known), ("selected", self.scores[self.chosen]))
        }
        cxmi = {"cxmi": self.cxmi, "nats_per_sentence": self.nats_per_sentence}
        return {"by": self.by, "asked": self.asked, "lines": len(self.scores), **cxmi, **rows}

    def text(self) -> str:
        record = self.as_dict()
        rows = [["", "lines", f"mean {self.by}", "least"]]
        for name in ("all", "selected"):
            count, *bits = record[name].values()
            rows.append([name, str(count), *("" if each is None else f"{each:+.3f}" for each in bits)])
        cxmi = f"CXMI {self.cxmi:+.4f} bits per word, {self.nats_per_sentence:+.3f} nats per sentence"
        parts = [remark(cxmi), aligned_table(rows)]
        if len(self.known) and np.abs(self.known).max() < NOTHING:
            nothing = "the model makes nothing of its context"
            parts.append(remark(f"No line gains or loses a thousandth of a bit: {nothing}"))
        found = int(self.chosen.sum())
        if found < self.asked:
            lacking = "have a tagged word" if self.by == "tag" else "have words and are translated"
            parts.append(remark(f"{found} lines are selected, not {self.asked}: no others {lacking}"))
        if self.unplaced:
            why = "the subword model reads other words there than the tags have"
            parts.append(remark(f"{self.unplaced} lines are left out: {why}"))
        return "\n\n".join(parts)
