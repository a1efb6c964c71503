"""Highlights in small batches of random windows, for tests."""

import numpy as np

from ctxmt_fairseq.text.highlights import LineHighlights
from tests.helpers import synthetic
from tests.helpers.steps import HEIGHT, build

LINES = tuple(range(3, 11))  # windows of two documents; line 8 begins the second
# Of line 4 and line 6, in words of one and of two subwords, supported by sentences before them.
MARKED = {
    4: LineHighlights(
        {"source": [np.array([0])], "target": [np.array([0]), np.array([1, 2])]},
        {("source", 2): np.array([0, 1]), ("source", 4): np.array([1]), ("target", 3): np.array([0])},
    ),
    6: LineHighlights(
        {"target": [np.array([1])]},
        {("source", 1): np.array([0]), ("source", 5): np.array([1]), ("target", 6): np.array([0, 2])},
    ),
}
# What of it each attention has: line, a word (places in the current sentence), its support by sentence.
# Line 1 is outside the window of line 6 (three sentences before); a target word sees what precedes it.
EXPECTED = {
    "encoder": [(4, [0], {("source", 2): [0, 1], ("source", 4): [1]})],
    "cross": [
        (4, [0], {("source", 2): [0, 1], ("source", 4): [1]}),
        (4, [1, 2], {("source", 2): [0, 1], ("source", 4): [1]}),
        (6, [1], {("source", 5): [1]}),
    ],
    "decoder": [
        (4, [0], {("target", 3): [0]}),
        (4, [1, 2], {("target", 3): [0]}),
        (6, [1], {("target", 6): [0]}),
    ],
}


def highlighted(system="concat shift", marked=MARKED, **options):
    """Task, model and dataset: windows of three sentences before the current one, on both sides."""
    options = {"layers": 2, "dropout": 0.0, "attention_dropout": 0.0, **options}
    task, model = build(system, **options)
    data = synthetic.dataset(task, 3, HEIGHT)
    data.highlights = marked
    return task, model, data


def collated(data, lines=LINES):
    return data.collater([data[line] for line in lines])
