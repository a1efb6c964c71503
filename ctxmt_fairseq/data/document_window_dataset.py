"""Makes fairseq examples of windows: consecutive sentences, joined with ``<sep>``."""

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch

from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.data.highlighted_batch import SentenceStarts, highlight_batch, in_window
from ctxmt_fairseq.data.windows import Slots
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.text.highlights import LineHighlights, Sentence

CURRENT = ("current_segment", "current_span")  # where the current sentence is in its window


class DocumentWindowDataset(ContextDataset):
    """Joins the context to the current sentence, on either side.

    An example's ``source`` is the source window; ``current_segment`` counts the sentences before the current
    one, and ``current_span`` says where it is: its first token and the first one after it.

    Args:
        highlights: by line, the words that attention should connect. A batch that has any gets their places
            as ``highlights`` (``highlight_batch``).
    """

    def __init__(self, *args: Any, highlights: Optional[Dict[int, LineHighlights]] = None, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.separators = not getattr(self.options, "no_separator", False)
        self.highlights = highlights or {}
        columns, swapped = self.builder.source_columns, self.options.context_selection == "swapped"
        # So many columns are before the current sentence.
        self.before = 0 if swapped else sum(column.offset <= 0 for column in columns)

    @property
    def marks(self) -> int:  # type: ignore[override]
        return 0 if self.separators else -1

    def _example(self, line: int, slots: Slots) -> Dict[str, Any]:
        example = super()._example(line, slots)
        if line in self.highlights:
            first = {"source": example["current_span"][0], "target": example["target_first"]}
            starts = self._sentence_starts(line, slots, first)
            example["highlights"] = in_window(self.highlights[line], starts, first)
        return example

    def _sentence_starts(self, line: int, slots: Slots, first: Dict[str, int]) -> Dict[str, SentenceStarts]:
        """The sentences of the source window, as ``source_side`` puts them, and of the target window, in
        which the current ones begin at ``first``."""
        sides = ["target" if column.target else "source" for column in self.builder.source_columns]
        sentences: List[Sentence] = list(zip(sides, slots.source, strict=True))
        before, after = sentences[: self.before], sentences[self.before :]
        targets: List[Sentence] = [("target", sentence) for sentence in slots.target]
        return {
            "source": [
                *self._starts(before, self.marks),
                *self._starts([("source", line), *after], self.marks, first["source"]),
            ],
            "target": [*self._starts(targets, 0), (("target", line), first["target"])],
        }

    def _starts(self, sentences: List[Sentence], marks: int, first: int = 0) -> SentenceStarts:
        starts = []
        for side, sentence in sentences:
            if sentence != NO_SENTENCE:
                starts.append(((side, sentence), first))
                text: Any = self.source if side == "source" else self.target
                first += marks + (1 if sentence == EMPTY_SENTENCE else len(text[sentence]))
        return starts

    def add_to_batch(self, batch: Dict[str, Any], samples: List[Dict[str, Any]]) -> None:
        rows = [sample.get("highlights") for sample in samples]
        if not any(rows):
            return
        widths = {"source": batch["net_input"]["src_tokens"].size(1), "target": batch["target"].size(1)}
        starts = {}
        for side, width in widths.items():
            pads = width - np.array([len(sample[side]) for sample in samples])
            starts[side] = pads if self.padding[f"left_pad_{side}"] else np.zeros_like(pads)
        if found := highlight_batch(rows, starts, widths):
            batch["highlights"] = found

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        columns = self.builder.source_columns
        texts = [self.text(line, column.target) for column, line in zip(columns, slots.source, strict=True)]
        before = [text for text in texts[: self.before] if text is not None]
        after = [text for text in texts[self.before :] if text is not None]
        current = self._current(line)
        return {"current": current, **self.layout(before, current, after)}

    def layout(
        self, before: List[torch.Tensor], current: torch.Tensor, after: List[torch.Tensor]
    ) -> Dict[str, Any]:
        """Put the sentences of a source window, each with ``</s>`` at its end, in a row.

        Another layout has as many tokens, because batches are cut before any token is read; it does not go
        with ``--attention-highlights``, whose places are those of this one.

        Returns:
            ``source``, ``current_segment`` and ``current_span``.
        """
        if self.builder.ends_with_eos:
            before = before or [self.empty]
        window = self.window(before, [current, *after], self.separator if self.separators else None)
        first = sum(len(sentence) + self.marks for sentence in before)
        if self.builder.ends_with_eos:
            first -= self.marks  # the context's last </s> stays
        end = first + len(current) + (self.marks if after else 0)
        return {"source": window, "current_segment": len(before), "current_span": (first, end)}

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        """``current_segment`` (B,) and ``current_span`` (B, 2), which leave pads out."""
        return {name: torch.tensor([sample[name] for sample in samples]) for name in CURRENT}

    def visible_context(self, example: Dict[str, Any]) -> Tuple[Any, ...]:
        return tuple(example[name] for name in CURRENT)

    def restored_context(self, number: int, context: Tuple[Any, ...]) -> Dict[str, Any]:
        return dict(zip(CURRENT, context, strict=True))
