"""Chooses, for a validation, the sentences of a split that exchange contexts, whatever its batches are."""

from typing import Any, Dict, List, Optional

import numpy as np
import torch

from ctxmt_fairseq.data.context_exchange import derangement


class ExchangePartners:
    """Each sentence's partners, whose contexts it gets: one for each of ``draws``, always the same ones. The
    dataset's limits are set."""

    def __init__(self, dataset: Any, draws: int):
        self.dataset = dataset
        fitting = np.flatnonzero(~dataset.exceeding(dataset.current_sizes))
        self._partners: List[np.ndarray] = []  # (examples,) each
        for draw in range(draws):
            order = derangement(len(fitting), torch.Generator().manual_seed(draw))
            if order is not None:
                partners = np.arange(len(dataset))
                partners[fitting] = fitting[order.numpy()]
                self._partners.append(partners)

    def of(self, lines: np.ndarray) -> Optional[Dict[str, Any]]:
        """Make a batch in which the sentences ``lines`` (B,) can exchange contexts with their partners: the
        batch of R rows; ``rows`` (B,), where the sentences are in it; and ``orders`` (M, R), whose context
        each row gets (``exchange_rows``). None: there is no other sentence."""
        if not self._partners:
            return None
        numbers = self.dataset.lines[:]
        own = np.searchsorted(numbers, lines)
        partners = np.stack([each[own] for each in self._partners])
        examples = self.dataset.__getitems__(np.unique([own, *partners]))
        batch = self.dataset.collater(examples, with_partners=False)
        by_line = np.argsort(batch["parts"].lines)

        def places(wanted: np.ndarray) -> np.ndarray:
            return by_line[np.searchsorted(batch["parts"].lines, wanted, sorter=by_line)]

        orders = np.tile(np.arange(len(by_line)), (len(partners), 1))
        orders[:, places(lines)] = places(numbers[partners])
        return {"batch": batch, "rows": places(lines), "orders": orders}
