"""Concatenation models, their options, and batches of windows, for tests."""

import argparse

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import build_model

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.symbols import SEPARATOR, add_symbols


def dictionary(symbols=20):
    result = Dictionary()
    for number in range(symbols):
        result.add_symbol(f"w{number}")
    add_symbols(result)
    return result


class Task:
    """What a model asks of its task."""

    def __init__(self, source=None, target=None, average=None, no_separator=False):
        self.no_separator = no_separator
        self.source_dictionary = source or dictionary()
        self.target_dictionary = target or dictionary(25)  # another id for the separator
        self._average = average

    @property
    def average_source_length(self):
        if self._average is None:
            raise BadInput("no ctxmt.json")
        return self._average


TASK = Task()
SRC_SEP, TGT_SEP = (d.index(SEPARATOR) for d in (TASK.source_dictionary, TASK.target_dictionary))
PAD, EOS = TASK.source_dictionary.pad(), TASK.source_dictionary.eos()

OPTIONS = {
    "none": {},
    "shift": {"segment_positions": "shift", "segment_shift": 7},
    "avg-sequence": {"segment_positions": "shift", "segment_shift": "avg-sequence"},
    "learned": {"segment_positions": "learned"},
    "sinusoidal": {"segment_positions": "sinusoidal"},
    "restart": {"segment_positions": "restart"},
    "flag": {"segment_positions": "learned", "segment_types": "context"},
    "encoder flag": {"segment_positions": "flag"},
    "sinusoidal flag": {"segment_positions": "sinusoidal", "segment_types": "context"},
    "learned positions": {
        "segment_positions": "learned",
        "encoder_learned_pos": True,
        "decoder_learned_pos": True,
    },
    "no token positions": {"segment_positions": "learned", "no_token_positional_embeddings": True},
}
ALL = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())


def make(task=TASK, arch="concat_transformer_tiny", seed=1, **options):
    torch.manual_seed(seed)
    limits = {"max_source_positions": 128, "max_target_positions": 128}
    args = argparse.Namespace(arch=arch, **{**limits, **options})
    return build_model(args, task).eval()


def batch(sources, targets, left_pad=True):
    """``net_input`` of windows: lists of sentences, which are lists of word numbers; the last is current."""

    def rows(windows, separator, left):
        rows = [[] for _ in windows]
        for row, window in zip(rows, windows, strict=True):
            for sentence in window:
                row += [10 + word for word in sentence] + [separator]
            row[-1] = EOS  # in place of the last separator
        width = max(map(len, rows))
        padded = [
            [PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row)) for row in rows
        ]
        return torch.tensor(padded)

    src = rows(sources, SRC_SEP, left_pad)
    tgt = rows(targets, TGT_SEP, False)
    previous = torch.full_like(tgt, PAD)
    for row, tokens in enumerate(tgt):
        real = tokens[tokens.ne(PAD)]
        previous[row, : len(real)] = torch.cat([real[-1:], real[:-1]])
    return {
        "src_tokens": src,
        "src_lengths": src.ne(PAD).sum(1),
        "prev_output_tokens": previous,
        "current_segment": torch.tensor([len(window) - 1 for window in sources]),
        "current_span": torch.tensor([_last_sentence(window) for window in sources]),
        "target_context_sizes": torch.tensor([len(window) - 1 for window in targets]),
    }


def _last_sentence(window):
    """Its first token and the first after it; every sentence ends with a symbol."""
    sizes = [len(sentence) + 1 for sentence in window]
    return sum(sizes[:-1]), sum(sizes)


def wanted(model, net_input):
    """The entries that the model's task would put into ``net_input``."""
    names = ("current_segment", "current_span", "target_context_sizes")
    given = {name: value for name, value in net_input.items() if name not in names}
    if model.context_format.kind:
        given["context"] = {name: net_input[name] for name in names if name in net_input}
    return given


def logits(model, net_input):
    return model(**wanted(model, net_input))[0]


SOURCES = [[[1, 2, 3], [4, 5]], [[6], [7, 8], [1, 9, 2]], [[3, 3]]]
TARGETS = [[[2, 2], [5, 6, 7]], [[1], [2], [3]], [[8, 4, 4, 1]]]
NET_INPUT = batch(SOURCES, TARGETS)
