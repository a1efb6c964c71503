"""Numbers of a batch that the host needs. Without these it would read them from a GPU, and wait for it."""

from dataclasses import dataclass, replace
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from ctxmt_fairseq.data.length_groups import Group, length_groups

Vectors = Callable[[np.ndarray], Optional[np.ndarray]]


@dataclass(frozen=True, eq=False)
class ContextSizes:
    """The numbers of B examples and their context. fairseq leaves arrays on the host when it moves a batch.

    Attributes:
        index: (B, C) the batch's ``index`` of sentences.
        source: (B,) the tokens of what the encoder reads besides the context.
        sentences: (R,) the tokens of each sentence of the context; reused sentences come first.
        keys: R names of these sentences, and ``current_keys`` those of the B current ones, for states that
            are kept from batch to batch; None: none are, or the sentences are not what the corpus has.
        groups: groups of the B rows that are computed one by one, with their widths of source and target.
        sentence_groups: the same for the context's sentences; none: they are encoded all at once.
    """

    index: np.ndarray
    source: np.ndarray
    sentences: np.ndarray
    keys: Optional[Tuple[int, ...]] = None
    current_keys: Optional[Tuple[int, ...]] = None
    groups: Tuple[Group, ...] = ()
    sentence_groups: Tuple[Group, ...] = ()

    def counts(self, vectors: Optional[Vectors] = None) -> Optional[np.ndarray]:
        """(B,): how many vectors each row's context has. ``vectors`` tells how many a sentence of so many
        tokens has; default: one for each token. None: it is not known."""
        counts = self.sentences if vectors is None else vectors(self.sentences)
        return None if counts is None else np.where(self.index < 0, 0, counts[self.index]).sum(1)

    def exchanged(self, order: np.ndarray, targets: np.ndarray) -> "ContextSizes":
        """Copy them for a batch in which row i has the context of row ``order[i]``, and (B,) ``targets``
        tokens of the target side, which has context, too."""
        groups = length_groups(self.source, targets) if self.groups else ()
        return replace(self, index=self.index[order], groups=groups)


@dataclass(frozen=True, eq=False)
class WindowParts:
    """The numbers of B windows that are not on the device.

    Attributes:
        lines: (B,) the lines of the current sentences, which are the batch's ``id``.
        tokens: (sum of lengths,) those of the current source sentences, one after the other. One array: a
            worker of the loader opens a file for every tensor that it sends.
        ends: (B,) where each of these sentences ends there.
        lengths: (B,) the source's tokens, which are the batch's ``src_lengths``.
        sentences: (B,) how many are before the current one in the target window (``target_context_sizes``).
        source, target: (B, 3) the windows' tokens before, in and after the current sentence; None: the source
            is no window, or there are no target sentences.
    """

    lines: np.ndarray
    tokens: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray
    sentences: np.ndarray
    source: Optional[np.ndarray] = None
    target: Optional[np.ndarray] = None
    split: str = ""

    @property
    def current(self) -> Tuple[Tensor, ...]:
        """The current source sentences, each with ``</s>`` at its end: views of ``tokens``."""
        return torch.from_numpy(self.tokens).tensor_split(self.ends[:-1].tolist())

    @classmethod
    def of(cls, examples: Sequence[Mapping[str, Any]], split: str = "") -> "WindowParts":
        """Those of a batch's examples (see ``ContextDataset``), in its order."""
        source = target = None
        lengths = np.array([len(example["source"]) for example in examples])
        if "current_span" in examples[0]:
            spans = np.array([example["current_span"] for example in examples])
            source = _parts(spans[:, 0], spans[:, 1], lengths)
        if examples[0]["target"] is not None:
            ends = np.array([len(example["target"]) for example in examples])
            target = _parts(np.array([example["target_first"] for example in examples]), ends, ends)
        current = [example["current"] for example in examples]
        return cls(
            np.array([example["id"] for example in examples]),
            torch.cat(current).numpy(),
            np.cumsum([len(sentence) for sentence in current]),
            lengths,
            np.array([example["target_context_sizes"] for example in examples]),
            source,
            target,
            split,
        )


def _parts(begins: np.ndarray, ends: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Tokens before, of and after what stands from ``begins`` to before ``ends`` in windows: (B, 3)."""
    return np.diff(np.stack([begins, ends, lengths], axis=1), prepend=0, axis=1)
