"""Windows of consecutive sentences, joined with ``<sep>``, as fairseq examples."""

from typing import Any, Dict, List

import torch

from ctxmt_fairseq.data.context_dataset import ContextDataset, join
from ctxmt_fairseq.data.windows import Slots


class DocumentWindowDataset(ContextDataset):
    """Context joined to the current sentence, on either side.

    An example's ``source`` is the source window; ``current_segment`` counts the sentences before the current
    one.
    """

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        before = self._context(self.target, slots.target_on_source)
        before += self._context(self.source, slots.source_before)
        after = self._context(self.source, slots.source_after)
        if self.builder.options.context_selection == "swapped":
            before, after = [], before + after
        current = self._current(line)
        window = join(before + [current] + after, self.separator)
        return {"source": window, "current": current, "current_segment": len(before)}

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        return {"current_segment": torch.tensor([sample["current_segment"] for sample in samples])}

    def visible_context(self, example: Dict[str, Any]) -> int:
        return example["current_segment"]

    def restored_context(self, number: int, context: int) -> Dict[str, Any]:
        return {"current_segment": context}
