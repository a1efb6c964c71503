"""Windows of consecutive sentences, joined with ``<sep>``, as fairseq examples."""

from typing import Any, Dict, List, Tuple

import torch

from ctxmt_fairseq.data.context_dataset import ContextDataset, join
from ctxmt_fairseq.data.windows import Slots

CURRENT = ("current_segment", "current_span")  # where the current sentence stands in its window


class DocumentWindowDataset(ContextDataset):
    """Context joined to the current sentence, on either side.

    An example's ``source`` is the source window; ``current_segment`` counts the sentences before the current
    one, and ``current_span`` says where that stands: its first token and the first after it.

    Args:
        separators: whether a separator ends every source sentence but the last; nothing does otherwise.
    """

    def __init__(self, *args: Any, separators: bool = True, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.separators = separators

    @property
    def marks(self) -> int:  # type: ignore[override]
        return 0 if self.separators else -1

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        before = self._context(self.target, slots.target_on_source)
        before += self._context(self.source, slots.source_before)
        after = self._context(self.source, slots.source_after)
        if self.builder.options.context_selection == "swapped":
            before, after = [], before + after
        current = self._current(line)
        window = join(before + [current] + after, self.separator if self.separators else None)
        first = sum(len(sentence) + self.marks for sentence in before)
        end = first + len(current) + (self.marks if after else 0)
        return {
            "source": window,
            "current": current,
            "current_segment": len(before),
            "current_span": (first, end),
        }

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        """``current_segment`` (B,) and ``current_span`` (B, 2), pads not counted."""
        return {name: torch.tensor([sample[name] for sample in samples]) for name in CURRENT}

    def visible_context(self, example: Dict[str, Any]) -> Tuple[Any, ...]:
        return tuple(example[name] for name in CURRENT)

    def restored_context(self, number: int, context: Tuple[Any, ...]) -> Dict[str, Any]:
        return dict(zip(CURRENT, context, strict=True))
