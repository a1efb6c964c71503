"""Histograms of a corpus' sentences and documents as PNG, with matplotlib (the extra ``plots``)."""

import io
from collections import Counter
from typing import Sequence

import numpy as np

from ctxmt_fairseq.corpora.statistics import Statistics

BARS = 50
TAIL = 0.999  # the share of sentences or documents that an axis shows; longer ones are in the last bar


def picture(statistics: Statistics, languages: Sequence[str]) -> bytes:
    """Lengths of sentences on either side, and of documents, as the content of a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    sentences, documents = figure.subplots(1, 2)
    _draw(sentences, statistics.lengths, languages)
    sentences.set(xlabel="subwords" if statistics.subwords else "words", ylabel="sentences")
    sentences.legend()
    _draw(documents, [statistics.documents], ["documents"])
    documents.set(xlabel="sentences", ylabel="documents", yscale="log")
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()


def _draw(axes, counters: Sequence[Counter], labels: Sequence[str]) -> None:
    most = max(_quantile(counter) for counter in counters)
    width = -(-(most + 1) // BARS)
    edges = np.arange(0, most + width + 1, width) - 0.5
    for counter, label in zip(counters, labels, strict=True):
        lengths = np.minimum(np.fromiter(counter, np.int64, len(counter)), most)
        weights = np.fromiter(counter.values(), np.int64, len(counter))
        axes.hist(lengths, bins=edges, weights=weights, histtype="step", label=label.replace("$", r"\$"))


def _quantile(lengths: Counter) -> int:
    passed, length = 0, 0
    for length in sorted(lengths):
        passed += lengths[length]
        if passed >= TAIL * lengths.total():
            break
    return length
