"""Weights of target tokens: from words to subwords, windows and batches."""

import logging

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.token_weights import SplitLine, TokenWeights
from ctxmt_fairseq.text.json_files import Place
from ctxmt_fairseq.text.word_weights import LineWeights
from tests.helpers.window_datasets import K3, PAD, dataset

SIZES = np.array([4, 1, 3])  # tokens, </s> included
SPLIT = {0: SplitLine(["ab", "c"], [2, 1]), 1: SplitLine([], []), 2: SplitLine(["d", "e"], [1, 1])}


def weights(line, *values, words=None):
    return LineWeights(Place("file", line + 1), line, values, words)


def test_a_word_gives_its_weight_to_its_subwords_and_the_end_has_one(caplog):
    with caplog.at_level(logging.INFO):
        made = TokenWeights.read([weights(2, 0.5, 7), weights(0, 3, 1)], SIZES, SPLIT.get)
    assert [made.of(line).tolist() for line in range(3)] == [[3, 3, 1, 1], [1], [0.5, 7, 1]]
    assert "token weights: mean 2.188, 4 of 8 tokens have another than 1; 0 of 2 lines" in caplog.text


def test_lines_that_cannot_be_used_are_counted(caplog):
    lines = [weights(0, 2, 2), *[weights(2, 3, 3)] * 98, weights(2, 1), weights(1)]
    split = {**SPLIT, 1: None}
    with caplog.at_level(logging.INFO):
        made = TokenWeights.read(lines, SIZES, split.get)
    assert "1 of 101 lines are left out for unknown subwords, 1 for other words" in caplog.text
    assert [made.of(line).tolist() for line in range(3)] == [[2, 2, 2, 1], [1], [3, 3, 1]]
    with pytest.raises(BadInput, match=r"file:3: expected 2 words.*\(so in 2 of 101 lines\)"):
        TokenWeights.read([*lines, weights(2, 1)][1:], SIZES, split.get)


def test_an_unknown_word_may_be_several_of_the_file(caplog):
    lines = [weights(line, 2, 3, 4, words=["c'", "est", "la"]) for line in range(3)]
    split = {
        0: SplitLine(["", "la"], [1, 1]),
        1: SplitLine(["c'", "", "la"], [1, 1, 1]),
        2: SplitLine(["c'est", "la"], [1, 1]),
    }
    with caplog.at_level(logging.INFO):
        made = TokenWeights.read(lines, np.array([3, 4, 3]), split.get)
    assert [made.of(line).tolist() for line in range(3)] == [[1, 1, 1], [2, 3, 4, 1], [3, 4, 1]]
    assert "1 of 3 lines are left out for unknown subwords, 0 for other words" in caplog.text


def random_weights(data, seed=0):
    made = TokenWeights(data.target.sizes)
    made.values = np.random.default_rng(seed).uniform(0, 9, len(made.values)).astype(np.float32)
    return made


@pytest.mark.parametrize("left_pad", [False, True])
def test_a_batch_has_the_weights_of_its_tokens(left_pad):
    """Of the current sentence; the context before it has 1, pads have 0."""
    plain = dataset(training=True)
    data = dataset(training=True, weights=random_weights(plain), left_pad_target=left_pad)
    starts = np.cumsum([0, *data.target.sizes])
    batch = data.collater([data[line] for line in (3, 0, 17, 40, 9)])
    assert batch["token_weights"].shape == batch["target"].shape
    for row, line in enumerate(batch["id"].tolist()):
        own = data.weights.values[starts[line] : starts[line + 1]].tolist()
        real = batch["target"][row].ne(PAD)
        context = int(real.sum()) - len(own)
        assert batch["token_weights"][row][real].tolist() == [1.0] * context + own
        assert not batch["token_weights"][row][~real].any()
    assert "token_weights" not in plain.collater([plain[3]])


def test_a_padded_width_is_kept():
    data = dataset(training=True, window=K3)
    data.weights = random_weights(data)
    batch = data.collater([data[3], data[4]], pad_to_length={"source": 60, "target": 64})
    assert batch["token_weights"].shape == batch["target"].shape == torch.Size([2, 64])
