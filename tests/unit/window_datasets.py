"""Small datasets of windows in memory, for tests."""

from types import SimpleNamespace

import numpy as np
import torch
from fairseq.data import Dictionary

from ctxmt_fairseq.data.context_format import ContextFormat, WantedContext
from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.symbols import add_symbols
from ctxmt_fairseq.data.windows import ContextOptions, WindowBuilder

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


def wanting(*names, distinct=False, **form):
    """What models want of the context that ask for these inputs."""
    wanted = WantedContext(names, distinct)
    wanted.adopt(SimpleNamespace(context_format=ContextFormat(names, **form)), "arch")
    return wanted


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
    builder = WindowBuilder(Documents.from_lengths(lengths), ContextOptions(**window), seed)
    return DocumentWindowDataset(
        sentences(n, 4, longest), VOCABULARY, sentences(n, 210, longest) if target else None, VOCABULARY,
        builder, training=training, seed=seed, name="split", **kwargs,
    )  # fmt: skip


def joined(parts):
    """Plain lists: every </s> but the last becomes the separator."""
    return [token for part in parts[:-1] for token in part[:-1] + [SEP]] + parts[-1]
