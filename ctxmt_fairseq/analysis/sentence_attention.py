"""How attention is spread over the context sentences: shares by their place, and the entropy over them."""

from collections import defaultdict
from typing import Any, Dict, Iterable, List, NamedTuple

import numpy as np

from ctxmt_fairseq.analysis.text_attention import AttendedSentence, ContextSentence
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.tables import aligned_table


class PlacedAttention(NamedTuple):
    """Means over all sentences whose context has the same places, such as -2 and -1; "target -1" is a
    translation.

    Attributes:
        shares: the part that each of the n context sentences has of the attention to all of them, without
            ``<bos>`` and ``</s>``.
        entropy: -sum p ln p of the shares of each word, in nats, at most ``uniform``, ln n.
    """

    places: List[str]
    sentences: int
    shares: List[float]
    entropy: float
    uniform: float


def sentence_attention(sentences: Iterable[AttendedSentence]) -> List[PlacedAttention]:
    """The attention from a text's sentences to those of their context; fewest context sentences first.

    Means are taken over the words of a sentence (without punctuation), then over sentences. A word that
    attends to ``<bos>`` and ``</s>`` alone has no shares.
    """
    found: Dict[Any, List[Any]] = defaultdict(list)
    for sentence in sentences:
        masses = np.stack([part.weights.sum(1) for part in sentence.context], axis=1)  # (W, n)
        masses = masses[sentence.words.lexical_words]
        masses = masses[masses.sum(1) > 0]
        if len(masses):
            shares = masses / masses.sum(1, keepdims=True)
            logs = np.log(np.where(shares > 0, shares, 1))
            places = tuple(_place(sentence.line, part) for part in sentence.context)
            found[places].append((shares.mean(0), -(shares * logs).sum(1).mean()))
    return [
        PlacedAttention(
            list(places),
            len(values),
            np.mean([shares for shares, _ in values], axis=0).tolist(),
            float(np.mean([entropy for _, entropy in values])),
            float(np.log(len(places))),
        )
        for places, values in sorted(found.items(), key=lambda item: (len(item[0]), item[0]))
    ]


def _place(line: int, part: ContextSentence) -> str:
    return f"{'target ' if part.target else ''}{part.line - line:+d}"


def sentence_table(found: List[PlacedAttention]) -> str:
    """A table with a row for each set of places."""
    columns = list(dict.fromkeys(place for each in reversed(found) for place in each.places))
    rows = [["context sentences", "sentences", *columns, "entropy (nats)", "uniform"]]
    for each in found:
        share = dict(zip(each.places, each.shares, strict=True))
        cells = [f"{share[place]:.3f}" if place in share else "-" for place in columns]
        ends = [f"{each.entropy:.3f}", f"{each.uniform:.3f}"]
        rows.append([str(len(each.places)), f"{each.sentences:,}", *cells, *ends])
    return aligned_table(rows)


def sentence_points(found: List[PlacedAttention]) -> List[Point]:
    """The points of bars: the shares by place, for each set of places."""
    return [
        Point("attention to context sentences (%)",
              f"{len(each.places)} context sentences, n = {each.sentences:,}", place, 100 * share)
        for each in reversed(found)
        for place, share in zip(each.places, each.shares, strict=True)
    ]  # fmt: skip
