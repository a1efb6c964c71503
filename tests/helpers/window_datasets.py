"""Small datasets of windows in memory, for tests."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import torch
from fairseq.data import Dictionary

from ctxmt_fairseq.data.context_format import ContextFormat, ContextRequest
from ctxmt_fairseq.data.context_options import WindowOptions
from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.data.window_sizes import WindowSizes
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import add_symbols

VOCABULARY = Dictionary()
for number in range(500):
    VOCABULARY.add_symbol(f"w{number}")
add_symbols(VOCABULARY)
EOS, PAD, SEP, MASK = (
    VOCABULARY.eos(),
    VOCABULARY.pad(),
    VOCABULARY.index("<sep>"),
    VOCABULARY.index("<mask>"),
)
K3 = dict(source_context=3, source_context_after=1, target_context=2)


def requesting(kind="", **form):
    """What models read of the context that ask for this kind."""
    request = ContextRequest((kind,))
    request.adopt(SimpleNamespace(context_format=ContextFormat(kind, **form)), "arch")
    return request


def options_in(kind, given):
    """Those of the arguments that are options of the context, taken out of them."""
    return kind(**{name: given.pop(name) for name in list(given) if name in kind.all_fields})


class Sentences(list):
    """Token tensors in memory with fairseq's ``sizes``."""

    @property
    def sizes(self):
        return np.array([len(sentence) for sentence in self], np.int32)


def sentences(n, first, longest=9):
    """n sentences of 0 to ``longest`` words from ``first`` on, each ending with </s>."""
    rng = np.random.default_rng((n, first))
    words = [rng.integers(first, first + 200, rng.integers(0, longest + 1)) for _ in range(n)]
    return Sentences(torch.tensor([*row.tolist(), EOS]) for row in words)


def dataset(lengths=(9, 1, 14, 2, 17), training=False, target=True, seed=1, window=K3, longest=9, **kwargs):
    n = sum(lengths)
    if "separators" in kwargs:
        kwargs["no_separator"] = not kwargs.pop("separators")
    options = {**window, **kwargs}
    builder = WindowBuilder(Documents.from_lengths(lengths), options_in(WindowOptions, options), seed)
    return DocumentWindowDataset(
        sentences(n, 4, longest), VOCABULARY, sentences(n, 210, longest) if target else None, VOCABULARY,
        builder, training=training, name="split", **options,
    )  # fmt: skip


def joined(parts):
    """Plain lists: every </s> but the last becomes the separator."""
    return [token for part in parts[:-1] for token in part[:-1] + [SEP]] + parts[-1]


class Roles(NamedTuple):
    """The context sentences of windows, by what they are."""

    target_on_source: np.ndarray
    source_before: np.ndarray
    source_after: np.ndarray
    target_before: np.ndarray


def slots(builder, lines, *args, **kwargs):
    made, columns = builder.slots(lines, *args, **kwargs), [c.role for c in builder.source_columns]
    source = (made.source[:, [at for at, each in enumerate(columns) if each == role]] for role in (2, 0, 1))
    return Roles(*source, made.target)


def sizes(builder, lines, source, target=None, *limits, **arrangement):
    """Of the windows around lines, from the lengths of both sides' sentences."""
    return WindowSizes(builder, source, target, **arrangement).sizes(lines, *limits)
