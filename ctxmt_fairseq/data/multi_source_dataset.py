"""Context sentences as inputs of their own beside the current sentence, as fairseq examples."""

from dataclasses import replace
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

import numpy as np
import torch

from ctxmt_fairseq.data import ordering, run_batches
from ctxmt_fairseq.data.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.data.context_dataset import ContextDataset, join
from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.data.input_lengths import longest_contexts, rows_to_encode
from ctxmt_fairseq.data.length_groups import length_groups
from ctxmt_fairseq.data.run_batches import Inputs
from ctxmt_fairseq.data.windows import FOLLOWING_SOURCE, PREVIOUS_SOURCE, TARGET, Slots

# What ``MultiSourceDataset.context_batch`` may return.
CONTEXT_ENTRIES = (
    "context_tokens",
    "context_distances",
    "context_roles",
    "context_index",
    "context_sizes",
    "context_current",
    "context_new",
)


class Row(NamedTuple):
    """A context sentence: its place among the corpus' sentences, which text, and where it stands."""

    sentence: int
    role: int
    distance: int


class MultiSourceDataset(ContextDataset):
    """Previous target, previous source and following source sentences as C rows, in this order.

    An example's ``source`` is the current sentence; ``context`` has C entries: tokens, or None where the
    document has no such sentence; ``context_rows`` says what they are.

    Args:
        batch_runs: cut batches from runs of this many consecutive sentences; 0: from any sentences.
    """

    def __init__(self, *args: Any, batch_runs: int = 0, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.batch_runs = batch_runs
        self.bos = torch.tensor([self.dictionary.bos()])

    @property
    def layout(self) -> str:  # type: ignore[override]
        return "joined" if self.wanted.format.joined else "rows"

    @property
    def input_layout(self) -> str:
        swapped = self.builder.options.context_selection == "swapped"  # the source is the context, joined
        return "joined" if swapped else self.layout

    @property
    def marks(self) -> int:  # type: ignore[override]
        return int(self.wanted.format.bos)

    def _sizes_of_batches(self) -> Sequence[np.ndarray]:
        # The current sentence and the context are padded apart, and know nothing of each other's lengths.
        if not self.whole_sizes.reach.any():
            return super()._sizes_of_batches()
        source, target = self._current_sizes
        targets = None if self.target is None else self.target.sizes
        lengths = self.source.sizes, targets, self._draw_epoch, self.layout == "joined"
        context = longest_contexts(self.builder, self.lines, *lengths)
        return ordering.winding((np.maximum(source, target) // 3, context, source))

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        if not self.batch_runs or not len(indices):
            return super().batch_by_size(indices, max_tokens, max_sentences, required_batch_size_multiple)
        self._check_sizes(indices, max_tokens)
        indices = np.sort(indices)
        rng = self.order_generator()
        offset = int(rng.integers(self.batch_runs)) if rng else 0
        runs = run_batches.runs(self.lines[indices], self.builder.documents, self.batch_runs, offset)
        inputs = self._inputs(indices)
        batches = run_batches.batches_of_runs(runs, inputs, max_tokens, max_sentences, rng)
        return [indices[batch] for batch in batches]

    def _inputs(self, indices: np.ndarray) -> Inputs:
        """What a batch counts of (m,) examples in the order of their lines."""
        none = np.zeros(len(indices), np.int8)
        if self.count_current_tokens or self.layout == "joined":
            source, target = (sizes[indices] for sizes in self._counted_sizes)
            return Inputs(source, none, target, none, none)
        source, target = self._current_sizes[0][indices], self.window_sizes.target[indices]
        lines, reach = self.lines[indices], self.window_sizes.reach[indices]
        targets = None if self.target is None else self.target.sizes
        lengths = self.source.sizes, targets, self._draw_epoch, self.input_layout == "joined"
        context = longest_contexts(self.builder, lines, *lengths, reach)
        if self.builder.options.context_selection == "swapped":
            one = np.ones(len(indices), np.int8)
            return Inputs(np.maximum(context, 1), source + self.marks, target, one, one)
        context += self.marks * (context > 0)
        if "context_index" not in self.wanted.format.names:  # ``context_batch`` then has all of them, padded
            options = self.builder.options
            columns = options.source_context + options.source_context_after + options.target_context_on_source
            rows = np.full(len(indices), columns, np.int16)
            return Inputs(source, np.maximum(context, 1), target, rows, rows)
        reused = "context_new" in self.wanted.format.names and not self.coword_dropout
        rows = rows_to_encode(self.builder, lines, self._draw_epoch, reach, reused)
        return Inputs(source, context, target, *rows)

    # ---- examples --------------------------------------------------------------------------------------

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        current = self._current(line)
        rows = [
            *_rows(slots.target_on_source, TARGET, farthest_first=True),
            *_rows(slots.source_before, PREVIOUS_SOURCE, farthest_first=True),
            *_rows(slots.source_after, FOLLOWING_SOURCE, farthest_first=False),
        ]
        texts = [self._text(row) for row in rows]
        source = current
        if self.builder.options.context_selection == "swapped":
            source = join([text for text in texts if text is not None] or [self.empty], self.separator)
            rows, texts = [Row(line, PREVIOUS_SOURCE, 1)], [current]
        elif self.wanted.format.joined:
            present = [text for text in texts if text is not None]
            rows, texts = (
                [Row(line, PREVIOUS_SOURCE, 1)],
                [join(present, self.separator) if present else None],
            )
        if not rows:
            rows, texts = [Row(NO_SENTENCE, PREVIOUS_SOURCE, 1)], [None]
        if self.wanted.format.bos:
            texts = [text if text is None else torch.cat([self.bos, text]) for text in texts]
        return {"source": source, "current": current, "context": texts, "context_rows": rows}

    def _text(self, row: Row) -> Optional[torch.Tensor]:
        if row.sentence == NO_SENTENCE:
            return None
        if row.sentence == EMPTY_SENTENCE:
            return self.empty
        sentences: Any = self.target if row.role == TARGET else self.source
        return sentences[row.sentence].long()

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, Any]:
        """The context of B examples.

        Returns:
            ``context_tokens`` (B, C, L), right-padded, a row of pads where there is no sentence;
            ``context_distances`` and ``context_roles`` (B, C). If the model asks for ``context_index`` (B,
            C), ``context_tokens`` is (R, L), the sentences that there are, at least one, and the index says
            which stands where, -1 for none; ``context_sizes`` are their ``ContextSizes``. If each distinct
            sentence stands there once, and the encoder's input is the current sentence as it stands in the
            corpus, ``context_current`` (R,) says which row of the batch has the sentence as its current one,
            or -1, ``context_new`` (N,) which have none, and the sizes name the sentences.
        """
        rows = [sample["context_rows"] for sample in samples]
        batch = {
            "context_distances": torch.tensor([[row.distance for row in line] for line in rows]),
            "context_roles": torch.tensor([[row.role for row in line] for line in rows]),
        }
        if "context_index" in self.wanted.format.names:
            return {**batch, **self._apart(samples, self.wanted.distinct and not self.wanted.format.joined)}
        texts = [text for sample in samples for text in sample["context"]]
        return {**batch, "context_tokens": self._pad(texts).view(len(samples), len(rows[0]), -1)}

    def visible_context(self, example: Dict[str, Any]) -> Any:
        texts = tuple(None if text is None else tuple(text.tolist()) for text in example["context"])
        return texts, tuple((row.role, row.distance) for row in example["context_rows"])

    def restored_context(self, number: int, context: Any) -> Dict[str, Any]:
        texts, places = context
        return {
            "context": [None if text is None else torch.tensor(text) for text in texts],
            # Equal sentences may stand in several places: each is its own here.
            "context_rows": [
                Row(-3 - number * len(places) - at, role, distance)
                for at, (role, distance) in enumerate(places)
            ],
        }

    def _apart(self, samples: List[Dict[str, Any]], once: bool) -> Dict[str, Any]:
        """The context's sentences in rows of their own, equal ones ``once`` or as often as they stand."""
        texts: Dict[Any, torch.Tensor] = {}
        names: List[List[Any]] = []
        for number, sample in enumerate(samples):
            sentences = zip(sample["context_rows"], sample["context"], strict=True)
            names.append([])
            for column, (row, text) in enumerate(sentences):
                name = (row.sentence, row.role == TARGET) if once else (number, column)
                names[-1].append(None if text is None else name)
                if text is not None:
                    texts.setdefault(name, text)
        if self._grouped:
            texts = dict(sorted(texts.items(), key=lambda item: -len(item[1])))
        places = {name: place for place, name in enumerate(texts)}
        index = np.array([[places.get(name, -1) for name in row] for row in names])
        tokens = list(texts.values()) or [self.empty]
        lengths = np.array([len(text) for text in tokens])
        sizes = ContextSizes(
            context=np.where(index < 0, 0, lengths[index]),
            source=np.array([len(sample["source"]) for sample in samples]),
            sentences=lengths,
        )
        batch = {"context_tokens": self._pad(tokens), "context_index": torch.from_numpy(index)}
        # A sentence with masked words, or one that has changed places, is not what the context holds.
        if not once or self.coword_dropout or self.builder.options.context_selection == "swapped":
            return {**batch, "context_sizes": self._groups(samples, sizes, lengths)}
        rows = {(sample["id"], False): number for number, sample in enumerate(samples)}
        current = np.array([rows.get(key, -1) for key in places] or [-1])
        new = np.flatnonzero(current < 0)
        encoded = lengths[new] if "context_new" in self.wanted.format.names else lengths
        return {
            **batch,
            "context_current": torch.from_numpy(current),
            "context_new": torch.from_numpy(new),
            "context_sizes": replace(
                self._groups(samples, sizes, encoded),
                keys=tuple(2 * line + target for line, target in places) or (2 * EMPTY_SENTENCE,),
                current_keys=tuple(2 * sample["id"] for sample in samples),
            ),
        }

    @property
    def _grouped(self) -> bool:
        """Whether batches are computed in groups: runs hold short and long sentences."""
        sides = self.padding["left_pad_source"], self.padding["left_pad_target"]
        return self.training and self.batch_runs > 0 and sides == (True, False) and self.target is not None

    def _groups(
        self, samples: List[Dict[str, Any]], sizes: ContextSizes, encoded: np.ndarray
    ) -> ContextSizes:
        """``sizes`` with the groups of a batch that is computed in groups.

        Args:
            encoded: tokens of each context sentence that is encoded.
        """
        if not self._grouped:
            return sizes
        target = np.array([len(sample["target"]) for sample in samples])
        return replace(
            sizes, groups=length_groups(sizes.source, target), context_groups=length_groups(encoded)
        )

    def _pad(self, texts: Sequence[Optional[torch.Tensor]]) -> torch.Tensor:
        """(n, L), right-padded; a missing text is a row of pads."""
        width = max([len(text) for text in texts if text is not None], default=1)
        padded = torch.full((len(texts), width), self.padding["pad_idx"])
        for row, text in zip(padded, texts, strict=True):
            if text is not None:
                row[: len(text)] = text
        return padded


def _rows(slots: Iterable[int], role: int, farthest_first: bool) -> List[Row]:
    sentences = list(slots)
    distances = range(len(sentences), 0, -1) if farthest_first else range(1, len(sentences) + 1)
    return [
        Row(int(sentence), role, distance) for sentence, distance in zip(sentences, distances, strict=True)
    ]
