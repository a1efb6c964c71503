"""Keeps encoded sentences of documents that are being translated."""

import collections
from typing import Iterable, List, Sequence, Tuple

import torch
from torch import Tensor

from ctxmt_fairseq.data.device_copies import to_device


class SentenceCache:
    """The states of the ``capacity`` sentences used last, by key; far more than are context at once."""

    def __init__(self, capacity: int = 1024):
        self.capacity = capacity
        self._states: collections.OrderedDict[int, Tensor] = collections.OrderedDict()

    def store(self, keys: Sequence[int], states: Tensor, sizes: Sequence[int]) -> None:
        """Keep sentences: states (R, K, D), of which the first ``sizes`` of each row are no pads."""
        for key, row, size in zip(keys, states, sizes, strict=True):
            self._states[key] = row[:size].clone()  # a view would keep the whole batch
            self._states.move_to_end(key)

    def gather(self, keys: Sequence[int]) -> Tuple[Tensor, Tensor]:
        """Return states (R, K, D), padded on the right, and their padding (R, K); drop the oldest others."""
        rows: List[Tensor] = []
        for key in keys:
            self._states.move_to_end(key)
            rows.append(self._states[key])
        states = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        sizes = to_device(torch.tensor([len(row) for row in rows]), states.device)
        while len(self._states) > max(self.capacity, len(keys)):
            self._states.popitem(last=False)
        return states, torch.arange(states.size(1), device=states.device) >= sizes[:, None]

    def missing(self, keys: Iterable[int]) -> List[int]:
        """The places of the keys that are not here."""
        return [place for place, key in enumerate(keys) if key not in self._states]
